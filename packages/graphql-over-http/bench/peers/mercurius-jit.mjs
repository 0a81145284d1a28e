import { listen as listenWith } from './mercurius.mjs'

/** Compiles a query when it is received for the second time. */
export const listen = () => listenWith({ jit: 1 })
