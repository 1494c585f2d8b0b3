import { DIALECT } from "./dialect.ts";
import type { Dialect } from "./dialect.ts";
import type { JsonObject } from "./json-object.ts";
import { metaSchemas2019 } from "./meta-schemas-2019.ts";
import { metaSchemas2020 } from "./meta-schemas-2020.ts";
import { metaSchemas07 } from "./meta-schemas-07.ts";
import type { Resource } from "./resource.ts";
import { PatternUse, Walk } from "./walk.ts";

interface Family {
  readonly prefix: string;
  readonly dialect: Dialect;
  readonly documents: () => readonly JsonObject[];
}

const FAMILIES: readonly Family[] = [
  {
    prefix: "https://json-schema.org/draft/2020-12/",
    dialect: { bit: DIALECT.draft2020, lenient: false },
    documents: metaSchemas2020,
  },
  {
    prefix: "https://json-schema.org/draft/2019-09/",
    dialect: { bit: DIALECT.draft2019, lenient: false },
    documents: metaSchemas2019,
  },
  {
    prefix: "http://json-schema.org/draft-0",
    dialect: { bit: DIALECT.draft07, lenient: false },
    documents: metaSchemas07,
  },
];

/** Prepared once, when a schema first refers to one; the same for everybody and never changed. */
const prepared = new Map<string, ReadonlyMap<string, Resource>>();

/** Finds an official meta-schema by its URI without fragment; null when it is none. */
export function metaSchemaResource(uri: string): Resource | null {
  const family = FAMILIES.find(({ prefix }) => uri.startsWith(prefix));
  if (family === undefined) return null;
  const resources = prepared.get(family.prefix) ?? prepareFamily(family);
  prepared.set(family.prefix, resources);
  return resources.get(uri) ?? null;
}

function prepareFamily({ dialect, documents }: Family): ReadonlyMap<string, Resource> {
  const walk = new Walk(dialect, new PatternUse(), () => null);
  for (const document of documents()) walk.document(document);
  walk.resolve();
  return walk.resources;
}
