import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button, CopyButton } from '../../../components/button.tsx'
import { Card } from '../../../components/card.tsx'
import { showFailure, showSuccess } from '../../../components/toasts.tsx'
import { orThrow } from '../step-form.tsx'
import type { SignedInProps } from '../use-auth.ts'

/** The claims and the remaining lifetime of the access token. */
export function TokenCard({ auth: { client }, session }: SignedInProps): JSX.Element {
  const claims = parseClaims(session.access_token)
  const leftSeconds = useSecondsUntil(claims.exp)
  const refresh = async () => {
    try {
      orThrow(await client.refreshSession())
      showSuccess('Access token refreshed.')
    } catch (error) {
      showFailure(error)
    }
  }
  const actions = (
    <>
      <CopyButton text={session.access_token} label="Copy token" />
      <Button size="small" icon="refresh" onClick={refresh}>
        Refresh
      </Button>
    </>
  )
  return (
    <Card title="Access token" actions={actions}>
      <div class="stack">
        <div class="try-expiry">
          <span>{leftSeconds > 0 ? 'Expires in' : 'Expired'}</span>
          <progress
            max={claims.exp - claims.iat}
            value={leftSeconds}
            aria-label="Time until the token expires"
          />
          <span class="number nowrap">{toClock(leftSeconds)}</span>
        </div>
        <details>
          <summary class="try-summary">Claims</summary>
          <pre class="code-block try-claims">{JSON.stringify(claims, undefined, 2)}</pre>
        </details>
      </div>
    </Card>
  )
}

function useSecondsUntil(time: number): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [time])
  return Math.max(0, Math.round(time - now / 1000))
}

/** Such as `59:07 min`. */
function toClock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`
}

/** The claims that the page uses. The page cannot verify them, because it does not have the signing key. */
interface Claims {
  /** Seconds since the epoch. */
  readonly exp: number
  readonly iat: number
  readonly aal?: string
  readonly amr?: readonly { readonly method: string; readonly timestamp: number }[]
  readonly session_id?: string
  readonly role?: string
}

export function parseClaims(token: string): Claims {
  const part = token.split('.')[1] ?? ''
  const base64 = part.replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(bytes))
}
