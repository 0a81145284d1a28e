/** Hears of what handlers throw; the caller only learns that the call failed. */
export type Report = (error: unknown) => void
