import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveUri } from "./uri.ts";

test("references resolve as RFC 3986 section 5.4 lists them", () => {
  const base = "http://a/b/c/d;p?q";
  const normal: Readonly<Record<string, string>> = {
    "g:h": "g:h",
    g: "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "/g": "http://a/g",
    "//g": "http://g",
    "?y": "http://a/b/c/d;p?y",
    "g?y": "http://a/b/c/g?y",
    ";x": "http://a/b/c/;x",
    "g;x": "http://a/b/c/g;x",
    "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/",
    "./": "http://a/b/c/",
    "..": "http://a/b/",
    "../": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../g": "http://a/g",
    "../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/",
    "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/../x": "http://a/b/c/g?y/../x",
  };
  for (const [reference, uri] of Object.entries(normal)) {
    assert.equal(resolveUri(base, reference), uri, reference);
  }
});

test("a base without a path, and one that is not hierarchical, work too", () => {
  assert.equal(resolveUri("http://a", "b"), "http://a/b");
  assert.equal(resolveUri("relay:///s", "list"), "relay:///list");
  assert.equal(resolveUri("urn:example:a", "urn:example:b"), "urn:example:b");
  assert.equal(resolveUri("urn:example:a", ""), "urn:example:a");
});
