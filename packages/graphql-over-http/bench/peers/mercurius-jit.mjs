import { listen as listenWith } from './mercurius.mjs'

/** Compiles a query when it comes for the second time. */
export const listen = () => listenWith({ jit: 1 })
