"""The way over the network. Nothing else knows which HTTP client is used."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from unspool.errors import UnspoolError
from unspool.sources.hiding import without_keys

if TYPE_CHECKING:
    import httpx2

_CONNECT = 15.0


class Unreachable(Exception):
    """No answer came at all."""


class CutOff(Exception):
    """The answer broke off, or none came for too long."""


def _said(error: Exception) -> str:
    """What went wrong, without the system's number for it."""
    return re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__


class Reply:
    """An answer whose body is still coming."""

    def __init__(self, response: "httpx2.Response") -> None:
        self._response = response
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes, unpacked."""
        import httpx2

        try:
            yield from self._response.iter_bytes()
        except httpx2.TimeoutException as error:
            raise CutOff("nothing came for too long") from error
        except httpx2.RemoteProtocolError as error:
            raise CutOff("the connection was closed") from error
        except (httpx2.TransportError, httpx2.DecodingError, httpx2.StreamError) as error:
            raise CutOff(_said(error)) from error

    def whole(self) -> bytes:
        return b"".join(self.pieces())


class Network:
    """Connections that are kept while they may be needed again."""

    def __init__(self, patience: float = 600.0) -> None:
        try:
            import httpx2
        except ImportError as error:
            raise UnspoolError("to ask a provider needs the package httpx2: pip install 'unspool[ask]'") from error
        timeout = httpx2.Timeout(patience, connect=min(_CONNECT, patience))
        self._client = httpx2.Client(timeout=timeout, follow_redirects=False)

    def __enter__(self) -> "Network":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @contextmanager
    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Iterator[Reply]:
        with self._sent("POST", url, headers, body) as reply:
            yield reply

    @contextmanager
    def get(self, url: str, headers: Mapping[str, str]) -> Iterator[Reply]:
        with self._sent("GET", url, headers, None) as reply:
            yield reply

    @contextmanager
    def _sent(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Iterator[Reply]:
        import httpx2

        try:
            request = self._client.build_request(method, url, headers=dict(headers), content=body)
            response = self._client.send(request, stream=True)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise UnspoolError(f"{without_keys(url)}: no address that can be asked: {error}") from error
        except httpx2.TimeoutException as error:
            raise Unreachable("no answer within the time given") from error
        except httpx2.TransportError as error:
            raise Unreachable(_said(error)) from error
        try:
            yield Reply(response)
        finally:
            response.close()
