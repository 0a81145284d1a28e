import { setFlagsFromString } from 'node:v8'

/**
 * While modules are loaded, the room for young objects would grow by some 20 MB, which V8 keeps for
 * good though an idle server never fills it again. Before the first import.
 */
export function keepYoungSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** From here on it may grow with the load; 2 is what V8 starts with. */
export function letYoungSpaceGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}
