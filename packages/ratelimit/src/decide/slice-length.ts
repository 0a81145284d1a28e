/** Descriptors that are worked off before others get their turn, and counters a store is asked for at once. */
export const sliceLength = 64
