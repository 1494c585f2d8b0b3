import { Ajv } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";

/** The dialects the tests run in. */
export const DIALECTS = ["2020-12", "2019-09", "draft-07"] as const;
export type DialectName = (typeof DIALECTS)[number];

export const DIALECT_URIS: Readonly<Record<DialectName, string>> = {
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
  "2019-09": "https://json-schema.org/draft/2019-09/schema",
  "draft-07": "http://json-schema.org/draft-07/schema#",
};

/** What Ajv says of a value: valid, invalid with its texts, or it threw. */
export type OracleVerdict =
  | { readonly type: "valid" }
  | { readonly type: "invalid"; readonly texts: readonly string[] }
  | { readonly type: "threw" };

export type Oracle = (value: unknown) => OracleVerdict;

const OPTIONS = {
  strict: false,
  validateFormats: false,
  allErrors: false,
  logger: false,
  addUsedSchema: false,
} as const;

const CONSTRUCTORS = { "2020-12": Ajv2020, "2019-09": Ajv2019, "draft-07": Ajv };

/** Compiles schemas of one dialect with Ajv; what Ajv cannot compile gives null. */
export class AjvOracle {
  readonly #dialect: DialectName;
  #ajv: Ajv;
  readonly #hasOwnIds: boolean;
  #uses = 0;

  /**
   * `hasOwnIds` promises that no two schemas share an `$id`. Otherwise each schema with one gets an
   * Ajv of its own, which takes a while: Ajv would mix them up.
   */
  constructor(dialect: DialectName, hasOwnIds = false) {
    this.#dialect = dialect;
    this.#hasOwnIds = hasOwnIds;
    this.#ajv = new CONSTRUCTORS[dialect](OPTIONS);
  }

  compile(schema: object | boolean): Oracle | null {
    const validate = this.#compiled(schema);
    if (validate === null) return null;
    return (value) => {
      try {
        if (validate(value)) return { type: "valid" };
      } catch {
        return { type: "threw" };
      }
      const errors = validate.errors ?? [];
      const texts = errors.map((error) => `arguments${error.instancePath} ${error.message ?? ""}`);
      return { type: "invalid", texts };
    };
  }

  /** Ajv's judgement by the meta-schema; null where it throws. */
  accepts(schema: object | boolean): boolean | null {
    try {
      return this.#ajv.validateSchema(schema) === true;
    } catch {
      return null;
    }
  }

  #compiled(schema: object | boolean): ReturnType<Ajv["compile"]> | null {
    this.#uses += 1;
    const mayMixUp = !this.#hasOwnIds && JSON.stringify(schema).includes('"$id"');
    // Ajv also keeps whatever it compiled.
    if (mayMixUp || this.#uses % 200 === 0) this.#ajv = new CONSTRUCTORS[this.#dialect](OPTIONS);
    try {
      return this.#ajv.compile(schema);
    } catch {
      return null;
    }
  }
}
