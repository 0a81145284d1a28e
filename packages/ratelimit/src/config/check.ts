import type { AnyVariable } from '@portcullis/service-kit/env'

/** Where the chapters report what no single variable can tell. */
export interface Check {
  /** The service cannot start like this. */
  fault(variable: AnyVariable, message: string): void
  /** Worth a warning. */
  note(text: string): void
  isSet(variable: AnyVariable): boolean
  /** The name as it was set, or the main one: what a message calls the variable. */
  nameOf(variable: AnyVariable): string
}

/** A client certificate and its key come together or not at all. */
export interface ClientTls {
  readonly cert: AnyVariable
  readonly key: AnyVariable
  readonly ca: AnyVariable
}

export interface ClientTlsConfig {
  readonly certPath: string | undefined
  readonly keyPath: string | undefined
  readonly caPath: string | undefined
}

export function toClientTls(
  variables: ClientTls,
  paths: { readonly cert: string; readonly key: string; readonly ca: string },
  check: Check,
): ClientTlsConfig {
  const { cert, key } = variables
  if (paths.cert !== '' && paths.key === '') {
    check.fault(key, `must name the key of ${check.nameOf(cert)}`)
  }
  if (paths.key !== '' && paths.cert === '') {
    check.fault(cert, `must name the certificate of ${check.nameOf(key)}`)
  }
  return {
    certPath: paths.cert || undefined,
    keyPath: paths.key || undefined,
    caPath: paths.ca || undefined,
  }
}
