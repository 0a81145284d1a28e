/** A document of an identity provider is refused. The message says why and contains no attribute. */
export class SamlError extends Error {
  override readonly name = 'SamlError'
  /** Whether no known key matches the signature, so that newer metadata may help. */
  readonly isKeyUnknown: boolean

  constructor(message: string, { isKeyUnknown = false }: { readonly isKeyUnknown?: boolean } = {}) {
    super(message)
    this.isKeyUnknown = isKeyUnknown
  }
}
