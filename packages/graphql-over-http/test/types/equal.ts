/** True only for identical types; `any` and `unknown` equal only themselves. */
export type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only for a true statement. */
export function isTrue<_Statement extends true>(): void {}
