/** True for the very same type, false for any other, `any` and `unknown` included. */
export type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only when told the truth. */
export function isTrue<_Statement extends true>(): void {}
