/** Why nothing is started, for the person at the terminal, who can do something about it. */
export class UpRefusal extends Error {
  override readonly name = 'UpRefusal'
}
