/**
 * The part of Standard Schema (https://standardschema.dev) that tools use: zod 4, arktype and
 * valibot (through `toStandardJsonSchema` of `@valibot/to-json-schema`) all have it.
 */
export type StandardSchema<Input = unknown, Output = Input> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
      options?: never,
    ) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
      readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
    /** Carries the types only; never there at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
};

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export type StandardIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

export type SchemaInput<Schema> = Schema extends {
  readonly "~standard": { readonly types?: infer Types };
}
  ? NonNullable<Types> extends { readonly input: infer Input }
    ? Input
    : unknown
  : never;

export type SchemaOutput<Schema> = Schema extends {
  readonly "~standard": { readonly types?: infer Types };
}
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : never;

/** Tells a schema of such a library from plain JSON Schema; some of them are functions. */
export function isStandardSchema(schema: object): schema is StandardSchema {
  return "~standard" in schema;
}

/** Writes what a value broke, for a model: `limit: Too big; tags: 0: Required`. */
export function issuesText(issues: readonly StandardIssue[]): string {
  const lines = issues.map(({ path = [], message }) => {
    const place = path.map((part) => String(typeof part === "object" ? part.key : part));
    return [...place, message].join(": ");
  });
  return lines.join("; ");
}
