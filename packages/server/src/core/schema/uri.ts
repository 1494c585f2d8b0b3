interface UriParts {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
}

/**
 * Resolves a URI reference without fragment against a base without fragment, as RFC 3986 section
 * 5.2 says. Texts are compared as they stand: no case folding, no percent-decoding.
 */
export function resolveUri(base: string, reference: string): string {
  const ref = splitUri(reference);
  if (ref.scheme !== "") return joinUri({ ...ref, path: removeDots(ref.path) });
  const from = splitUri(base);
  if (ref.authority !== "")
    return joinUri({ ...ref, scheme: from.scheme, path: removeDots(ref.path) });
  if (ref.path === "")
    return joinUri({ ...from, query: ref.query === "" ? from.query : ref.query });
  const path = ref.path.startsWith("/") ? ref.path : mergePaths(from, ref.path);
  return joinUri({ ...from, path: removeDots(path), query: ref.query });
}

function splitUri(uri: string): UriParts {
  const [, scheme = "", authority = "", path = "", query = ""] =
    /^([A-Za-z][A-Za-z0-9+.-]*:)?(\/\/[^/?]*)?([^?]*)(\?.*)?$/s.exec(uri) ?? [];
  return { scheme, authority, path, query };
}

function joinUri(parts: UriParts): string {
  return parts.scheme + parts.authority + parts.path + parts.query;
}

function mergePaths(base: UriParts, path: string): string {
  if (base.authority !== "" && base.path === "") return `/${path}`;
  return base.path.slice(0, base.path.lastIndexOf("/") + 1) + path;
}

function removeDots(path: string): string {
  if (!path.includes(".")) return path;
  const segments = path.split("/");
  const kept: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    if (segment === "." || segment === "..") {
      if (segment === ".." && (kept.length > 1 || (kept.length === 1 && kept[0] !== "")))
        kept.pop();
      if (last) kept.push("");
    } else {
      kept.push(segment);
    }
  }
  return kept.join("/");
}
