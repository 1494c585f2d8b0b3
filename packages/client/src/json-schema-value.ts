/** A JSON Schema of an object, as `inputSchema` and `outputSchema` must be. */
export type ObjectSchema = {
  readonly type: "object";
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
};

/**
 * The TypeScript type of the values that a literal JSON Schema accepts, as far as `type`, `const`,
 * `enum`, `properties`, `required` and `items` say it; `unknown` where they say nothing.
 */
export type JsonSchemaValue<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: infer Type }
      ? ValueOfType<Type extends readonly (infer One)[] ? One : Type, Schema>
      : unknown;

type ValueOfType<Type, Schema> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? Schema extends { readonly items: infer Items }
            ? JsonSchemaValue<Items>[]
            : unknown[]
          : Type extends "object"
            ? ObjectValue<Schema>
            : unknown;

type ObjectValue<Schema> = Schema extends {
  readonly properties: infer Properties extends Readonly<Record<string, unknown>>;
}
  ? Flat<
      {
        -readonly [Key in keyof Properties & RequiredKeys<Schema>]: JsonSchemaValue<
          Properties[Key]
        >;
      } & {
        -readonly [Key in Exclude<keyof Properties, RequiredKeys<Schema>>]?: JsonSchemaValue<
          Properties[Key]
        >;
      }
    >
  : Record<string, unknown>;

type RequiredKeys<Schema> = Schema extends { readonly required: readonly (infer Key)[] }
  ? Key
  : never;

type Flat<Type> = { [Key in keyof Type]: Type[Key] };
