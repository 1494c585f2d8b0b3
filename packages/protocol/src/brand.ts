declare const brand: unique symbol;

/** A string that has been checked to be a `Name`, so that one token can't be passed as another. */
export type Brand<Name extends string> = string & { readonly [brand]: Name };
