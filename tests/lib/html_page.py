"""A page of the daemons as a browser reads it: well-formed or refused, without script but the
server's own file, style attributes, handlers and addresses of other servers. For the tests of
pages."""
import html.parser

VOID = {"meta", "link", "br", "input", "img", "hr"}
SVG = {"rect"}
SCRIPT = {"src": "/static/live.js", "defer": None}
POLICY = (
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


class Page(html.parser.HTMLParser):
    """text: what is shown; links: [href]; forms: [{"action", "method", fields}]; elements: {name:
    [attributes]}."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.shown, self.links, self.forms, self.elements, self.wrong = (
            [],
            [],
            [],
            [],
            {},
            [],
        )
        self.finds = False
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(f"not closed: {self.open}")
        if not text.startswith("<!DOCTYPE html>"):
            self.wrong.append("no doctype")
        self.text = " ".join("".join(self.shown).split())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.setdefault(tag, []).append(attributes)
        if (
            tag == "script"
            and attributes != SCRIPT
            or tag in ("iframe", "object", "embed", "style", "base", "img")
        ):
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if (
                name == "style"
                or name.startswith("on")
                or (value or "").strip().lower().startswith(("javascript:", "data:"))
            ):
                self.wrong.append(f"<{tag} {name}={value}>")
        if len(attributes) != len(attrs):
            self.wrong.append(f"<{tag}>: an attribute twice")
        if tag == "a":
            self.links.append(attributes.get("href"))
        if tag == "form" and attributes.get("class") == "find":
            self.finds = True  # the box of every page is no form of its own
        elif tag == "form":
            self.finds = False
            self.forms.append(
                {"action": attributes["action"], "method": attributes["method"], "fields": {}}
            )
        if tag == "input" and self.forms and "name" in attributes and not self.finds:
            self.forms[-1]["fields"][attributes["name"]] = attributes.get("value", "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in SVG:
            self.wrong.append(f"<{tag}/>")
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> within {self.open}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.wrong.append(f"script in the page: {data}")
        self.shown.append(data if not self.open or self.open[-1] != "td" else data + " ")


def check_headers(headers, script=False):
    """What is wrong with them, as a list; `script`: of a page that loads the server's."""
    policy = POLICY + "; script-src 'self'; connect-src 'self'" * script
    wanted = {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Content-Type": "text/html; charset=utf-8",
    }
    return [
        f"{name}: {headers.get(name)}"
        for name, value in wanted.items()
        if headers.get(name) != value
    ]
