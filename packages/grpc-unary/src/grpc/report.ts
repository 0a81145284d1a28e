/** Called with the errors that handlers throw; the caller only gets a failed status. */
export type Report = (error: unknown) => void
