interface UriParts {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
}

/**
 * Resolves a URI reference without fragment against a base without fragment, as RFC 3986 section
 * 5.2 says. The base has no dot segments. Texts are taken as they stand: no case folding, no
 * percent-decoding.
 */
export function resolveUri(base: string, reference: string): string {
  const ref = splitUri(reference);
  if (ref.scheme !== "") return joinUri({ ...ref, path: withoutDots(ref.path) });
  const from = splitUri(base);
  if (ref.authority !== "") {
    return joinUri({ ...ref, scheme: from.scheme, path: withoutDots(ref.path) });
  }
  if (ref.path === "") {
    return joinUri({ ...from, query: ref.query === "" ? from.query : ref.query });
  }
  const path = ref.path.startsWith("/") ? withoutDots(ref.path) : descend(folderOf(from), ref.path);
  return joinUri({ ...from, path, query: ref.query });
}

function splitUri(uri: string): UriParts {
  const [, scheme = "", authority = "", path = "", query = ""] =
    /^([A-Za-z][A-Za-z0-9+.-]*:)?(\/\/[^/?]*)?([^?]*)(\?.*)?$/s.exec(uri) ?? [];
  return { scheme, authority, path, query };
}

function joinUri(parts: UriParts): string {
  return parts.scheme + parts.authority + parts.path + parts.query;
}

function folderOf(base: UriParts): string {
  if (base.authority !== "" && base.path === "") return "/";
  return base.path.slice(0, base.path.lastIndexOf("/") + 1);
}

function withoutDots(path: string): string {
  return path.startsWith("/") ? descend("/", path.slice(1)) : descend("", path);
}

/** Goes from a folder, which ends in a slash or is empty, along a relative path. */
function descend(folder: string, path: string): string {
  const segments = path.split("/");
  let place = folder;
  for (const [index, segment] of segments.entries()) {
    if (segment === "..") place = parentOf(place);
    else if (segment !== ".") place += index < segments.length - 1 ? `${segment}/` : segment;
  }
  return place;
}

function parentOf(folder: string): string {
  return folder.length < 2
    ? folder
    : folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1);
}
