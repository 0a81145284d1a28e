import { createAuthority } from '@portcullis/test-servers'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** A new certificate authority with which a test signs its certificates. */
export interface Authority {
  readonly ca: string
  sign(name: string): Certificate
}

export function openAuthority(): Authority {
  const authority = createAuthority('test authority')
  return {
    ca: authority.certificate,
    sign(name) {
      const { key, certificate } = authority.issue(name)
      return { key, cert: certificate }
    },
  }
}
