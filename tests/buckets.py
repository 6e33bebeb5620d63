"""An S3-speaking server on loopback, and folders put into a bucket of it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

BUCKET = "shop-logs"
FORBIDDEN = "forbidden"
"""Objects with this in their names may be written and listed, but not read."""


class Storage:
    """What it holds is looked at with another client than ours."""

    def __init__(self, endpoint: str) -> None:
        import boto3  # type: ignore[import-untyped]

        self.endpoint = endpoint
        self._client = boto3.client("s3")
        self._client.create_bucket(Bucket=BUCKET)

    def place(self) -> str:
        """A URL below which nothing is."""
        return f"s3://{BUCKET}/{uuid4().hex}"

    def put(self, folder: Path) -> str:
        """All files of the folder, below a URL of their own."""
        url = self.place()
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.write(f"{url}/{path.relative_to(folder).as_posix()}", path.read_bytes())
        return url

    def write(self, url: str, data: bytes) -> None:
        self._client.put_object(Bucket=BUCKET, Key=_key(url), Body=data)

    def files(self, url: str) -> dict[str, bytes]:
        """What lies below, by name."""
        prefix = _key(url) + "/"
        listed = self._client.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])
        return {found["Key"].removeprefix(prefix): self.read(found["Key"]) for found in listed}

    def read(self, key: str) -> bytes:
        data: bytes = self._client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        return data


def _refusing(application: Any) -> Any:
    def answer(environment: dict[str, Any], start: Any) -> Any:
        if environment["REQUEST_METHOD"] in ("GET", "HEAD") and FORBIDDEN in environment["PATH_INFO"]:
            told = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
            start("403 Forbidden", [("Content-Type", "application/xml"), ("Content-Length", str(len(told)))])
            return [] if environment["REQUEST_METHOD"] == "HEAD" else [told]
        return application(environment, start)

    return answer


def _key(url: str) -> str:
    return url.removeprefix(f"s3://{BUCKET}/")


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    server_of = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    import fsspec

    server = server_of.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    server._server.app = _refusing(server._server.app)
    host, port = server.get_host_and_port()
    nothing = tmp_path_factory.mktemp("aws") / "none"
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "tester")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "tested")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_CONFIG_FILE", str(nothing))
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(nothing))
        yield Storage(f"http://{host}:{port}")
        fsspec.get_filesystem_class("s3").clear_instance_cache()
    server.stop()
