import { setFlagsFromString } from 'node:v8'

/**
 * Keeps the young generation of the heap small. Loading modules would grow it by about 20 MB, which
 * V8 keeps permanently although an idle server never uses it again. Call it before the first
 * import.
 */
export function keepYoungSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Lets the young generation grow with the load from now on; 2 is the default of V8. */
export function letYoungSpaceGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}
