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
from unspool.web.peers import is_another_user

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
    """Lets in who has the token, or `ticket`, which is valid once.

    Programs that open a browser are started with an address, and all users of the machine can read the arguments of
    programs. So the browser is given the ticket, and the token is only printed.
    """

    def __init__(self, app: ASGIApp, token: str, ticket: str, port: int) -> None:
        self._app = app
        self._token = token
        self._ticket: str | None = ticket
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
        query = parse_qs(scope["query_string"].decode("latin-1")) if scope["path"] == "/" else {}
        if token := query.get("token"):
            if not _is_same(token[-1], self._token):
                return PlainTextResponse("The token in this address is not that of the viewer that runs now.\n", 403)
            return self._let_in()
        if ticket := query.get("once"):
            return self._exchanged(ticket[-1], scope, headers.get("cookie", ""))
        if not is_same_site(headers.getlist("sec-fetch-site")):
            return PlainTextResponse("Another site asked.\n", 403)
        if not self._is_known(headers.get("cookie", "")):
            return PlainTextResponse("Open the address that `unspool view` printed: it holds the token.\n", 403)
        return None

    def _let_in(self) -> Response:
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie, self._token, path="/", httponly=True, samesite="strict")
        return answer

    def _exchanged(self, ticket: str, scope: Scope, cookies: str) -> Response:
        """Let the first GET with the ticket in, if it comes from our own user. Who is in already may come again."""
        if self._is_known(cookies):
            return RedirectResponse("/", 303)
        peer = scope["client"]
        if (
            scope["method"] == "GET"
            and self._ticket is not None
            and _is_same(ticket, self._ticket)
            and not (peer is not None and is_another_user(peer[1], self._port))
        ):
            self._ticket = None
            return self._let_in()
        return PlainTextResponse("This address was valid once. Open the one that `unspool view` printed.\n", 403)

    def _is_known(self, cookies: str) -> bool:
        try:
            found = SimpleCookie(cookies).get(self._cookie)
        except CookieError:
            return False
        return found is not None and _is_same(found.value, self._token)


def _is_same(secret: str, own: str) -> bool:
    return hmac.compare_digest(secret.encode(), own.encode())
