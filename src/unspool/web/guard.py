"""Who may ask: a browser that was given the token, speaking to this very address.

A page from elsewhere that makes a browser ask us (DNS rebinding, a form, an image) fails at the Host, the Origin or the
cookie, which no other site is sent.
"""

import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unspool.recorder.callers import Callers, is_same_site

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


class Guard:
    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._cookie = f"unspool_{port}"  # cookies know no ports: two viewers must not share one
        self._port, self._callers = port, Callers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._callers.knows_host(host, self._port):
            return PlainTextResponse("This is not the address that unspool listens to.\n", 421)
        if not all(self._callers.allows(origin, host) for origin in headers.getlist("origin")):
            return PlainTextResponse("Another site asked.\n", 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("Nothing can be changed here.\n", 405, {"allow": "GET, HEAD"})
        if scope["path"] == "/" and (given := parse_qs(scope["query_string"].decode("latin-1")).get("token")):
            if not hmac.compare_digest(given[-1].encode(), self._token.encode()):
                return PlainTextResponse("The token in this address is not that of the viewer that runs now.\n", 403)
            answer = RedirectResponse("/", 303)
            answer.set_cookie(self._cookie, self._token, path="/", httponly=True, samesite="strict")
            return answer
        if not is_same_site(headers.getlist("sec-fetch-site")):
            return PlainTextResponse("Another site asked.\n", 403)
        if not self._is_known(headers.get("cookie", "")):
            return PlainTextResponse("Open the address that `unspool view` printed: it holds the token.\n", 403)
        return None

    def _is_known(self, cookies: str) -> bool:
        try:
            found = SimpleCookie(cookies).get(self._cookie)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self._token.encode())
