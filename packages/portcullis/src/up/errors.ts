/** A part failed to start; the message is printed in the terminal. */
export class PartStartError extends Error {
  override readonly name = 'PartStartError'
}

/** Nothing was started, and the message says what the user can do about it. */
export class UpRefusal extends Error {
  override readonly name = 'UpRefusal'
}
