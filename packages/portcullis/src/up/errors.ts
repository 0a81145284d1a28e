/** Why a part could not start, for the person at the terminal. */
export class PartStartError extends Error {
  override readonly name = 'PartStartError'
}

/** Why nothing is started, for the person at the terminal, who can do something about it. */
export class UpRefusal extends Error {
  override readonly name = 'UpRefusal'
}
