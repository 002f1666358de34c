"""Parser of pages: ids, links, headings, and well-formedness."""

from __future__ import annotations

from html.parser import HTMLParser

EMPTY = {"br", "input", "meta"}
LOADING = {"src", "srcset", "poster", "data", "action", "background"}


class Read(HTMLParser):
    """Content of a page. Parsing fails if elements are not properly nested and closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.contents: list[tuple[str, str]] = []
        self.headings: list[tuple[str, str]] = []
        self.said: list[tuple[str, str]] = []
        """Ids of statements, each with the section that it stands in."""
        self.outside: list[str] = []
        self.words: list[str] = []
        self._section: list[str] = []
        self._target = ""
        self._classes: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if "id" in given:
            self.ids.append(given["id"])
        self.outside += [
            value for key, value in given.items() if key in LOADING or (key == "href" and value[:1] != "#")
        ]
        if tag == "link":
            self.outside.append(tag)
        if "href" in given:
            self.links.append(given["href"][1:])
            self._target = given["href"][1:]
        if tag in EMPTY:
            return
        self.open.append(tag)
        self._classes.append(given.get("class", ""))
        if tag == "section":
            self._section.append(given.get("id", ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag
        self._classes.pop()
        if tag == "section":
            self._section.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        inside = self.open[-1] if self.open else ""
        if "nav" in self.open and inside == "a":
            self.contents.append((self._target, data))
        elif inside in ("h2", "h3") and self._section:
            self.headings.append((self._section[-1], data))
        elif self._classes and self._classes[-1] == "id" and self._section:
            self.said.append((self._section[-1], data))
