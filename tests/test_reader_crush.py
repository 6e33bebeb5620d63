"""What the generic tests of readers cannot ask of Crush's: where its databases lie."""

import json
from pathlib import Path

from test_readers import FOLDERS, laid_out
from unspool.ingest.logs import open_log
from unspool.readers import READERS


def test_the_project_is_the_folder_around_it(tmp_path: Path) -> None:
    folder = tmp_path / "shop" / ".crush"
    folder.mkdir(parents=True)
    (file,) = laid_out(FOLDERS / "crush" / "session.sql", folder)
    log = open_log(str(file))
    assert log is not None
    list(log)
    assert [facts.project for facts in log.sessions.values()] == [str(tmp_path / "shop")]


def test_projects_are_those_that_crush_lists(tmp_path: Path) -> None:
    listed = tmp_path / ".local/share/crush/projects.json"
    listed.parent.mkdir(parents=True)
    projects = [{"path": "/home/me/shop", "data_dir": "/home/me/shop/.crush"}, {"path": "/x"}, "odd"]
    listed.write_text(json.dumps({"projects": projects}))
    places = list(READERS["crush"].places({}, tmp_path))
    assert [place.folder for place in places] == [tmp_path / ".crush", Path("/home/me/shop/.crush")]
    listed.write_text("torn")
    assert [place.folder for place in READERS["crush"].places({}, tmp_path)] == [tmp_path / ".crush"]
