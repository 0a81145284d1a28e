import { createHmac } from 'node:crypto'

export interface SignedRequest {
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  readonly body: string
}

/** Standard Webhooks: one signature for each secret, so that secrets can be changed without a gap. */
export function toSignature(secrets: readonly Buffer[], request: SignedRequest): string {
  const signed = `${request.id}.${request.timestamp}.${request.body}`
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
    .join(' ')
}
