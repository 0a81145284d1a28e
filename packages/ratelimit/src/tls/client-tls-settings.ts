import type { Check } from '@portcullis/service-kit/settings/config-check'
import type { AnyVariable } from '@portcullis/service-kit/settings/env'

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
