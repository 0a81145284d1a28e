import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Factor, Identity, Passkey } from '../../../../console/routes/users-upstream.ts'
import { callApi } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { FormDialog } from '../../../components/dialog.tsx'
import { Failure, Loading } from '../../../components/states.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { formatAge, formatPhone } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { removePart } from '../change-user.ts'
import type { TabProps } from './tab.ts'

/** A second factor or passkey that is about to be removed. */
interface Removal {
  readonly title: string
  readonly consequence: string
  readonly path: string
  readonly done: string
  /** Undefined for a passkey. */
  readonly factorId?: string
}

export function SignInTab({ user, onChange }: TabProps): JSX.Element {
  const path = `/api/users/${user.id}`
  const loaded = useLoaded(
    async (signal) => {
      const [factors, passkeys] = await Promise.all([
        callApi<readonly Factor[]>(`${path}/factors`, { signal }),
        callApi<readonly Passkey[]>(`${path}/passkeys`, { signal }),
      ])
      return { factors, passkeys }
    },
    // Another action may have removed the factors.
    [user.id, user.factors],
  )
  const [removal, setRemoval] = useState<Removal>()
  if (loaded.state === 'loading') return <Loading />
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />
  const { factors, passkeys } = loaded.value
  return (
    <>
      <Group title="Identities" empty="No identities.">
        {user.identities.map((identity) => (
          <IdentityItem key={identity.identity_id} identity={identity} />
        ))}
      </Group>
      <Group title="Second factors" empty="No second factors: signing in takes one step.">
        {factors.map((factor) => (
          <FactorItem
            key={factor.id}
            factor={factor}
            onRemove={() => setRemoval(toFactorRemoval(path, factor))}
          />
        ))}
      </Group>
      <Group title="Passkeys" empty="No passkeys.">
        {passkeys.map((passkey) => (
          <PasskeyItem
            key={passkey.id}
            passkey={passkey}
            onRemove={() => setRemoval(toPasskeyRemoval(path, passkey))}
          />
        ))}
      </Group>
      {removal && (
        <FormDialog
          title={removal.title}
          action="Remove"
          kind="danger"
          onClose={() => setRemoval(undefined)}
          onSubmit={async () => {
            await removePart(removal.path)
            showSuccess(removal.done)
            const { factorId } = removal
            if (factorId === undefined) return loaded.reload()
            const left = factors.filter(({ id }) => id !== factorId)
            return onChange({ ...user, factors: left })
          }}
        >
          <p>{removal.consequence}</p>
        </FormDialog>
      )}
    </>
  )
}

function toFactorRemoval(path: string, factor: Factor): Removal {
  return {
    title: `Remove ${toFactorName(factor)}?`,
    consequence: 'Sessions verified with this second factor fall back to a single factor (aal1).',
    path: `${path}/factors/${factor.id}`,
    factorId: factor.id,
    done: 'Second factor removed.',
  }
}

function toPasskeyRemoval(path: string, passkey: Passkey): Removal {
  return {
    title: `Remove ${toPasskeyName(passkey)}?`,
    consequence:
      'The user can no longer sign in with it. It stays on their device until they delete it there.',
    path: `${path}/passkeys/${passkey.id}`,
    done: 'Passkey removed.',
  }
}

interface GroupProps {
  readonly title: string
  readonly empty: string
  readonly children: readonly JSX.Element[]
}

function Group({ title, empty, children }: GroupProps): JSX.Element {
  return (
    <section class="stack tight" aria-label={title}>
      <h3>{title}</h3>
      {children.length === 0 ? (
        <p class="muted small">{empty}</p>
      ) : (
        <ul class="items">{children}</ul>
      )}
    </section>
  )
}

function IdentityItem({ identity }: { readonly identity: Identity }): JSX.Element {
  const { provider, email, id, last_sign_in_at: lastSignInAt } = identity
  return (
    <li>
      <div class="grow">
        <strong>{provider}</strong>
        <div class="muted small">{email ?? id}</div>
      </div>
      <span class="muted small number">
        {lastSignInAt === undefined ? 'not used yet' : `used ${formatAge(lastSignInAt)}`}
      </span>
    </li>
  )
}

const factorTypes: Readonly<Record<string, string>> = {
  totp: 'Authenticator app',
  phone: 'Phone',
  webauthn: 'Security key',
  recovery_codes: 'Recovery codes',
}

function toFactorName({ friendly_name: name, factor_type: type }: Factor): string {
  return name ?? factorTypes[type] ?? type
}

interface FactorItemProps {
  readonly factor: Factor
  readonly onRemove: () => void
}

function FactorItem({ factor, onRemove }: FactorItemProps): JSX.Element {
  const { factor_type: type, status, phone, created_at: createdAt } = factor
  const kind = factorTypes[type] ?? type
  return (
    <li>
      <div class="grow">
        <strong>{toFactorName(factor)}</strong>{' '}
        {status === 'unverified' && <Badge tone="warn">Unverified</Badge>}
        <div class="muted small">
          {phone === '' ? kind : `${kind} ${formatPhone(phone)}`}, added {formatAge(createdAt)}
        </div>
      </div>
      <Button size="small" label={`Remove ${toFactorName(factor)}`} onClick={onRemove}>
        Remove…
      </Button>
    </li>
  )
}

function toPasskeyName({ friendly_name: name }: Passkey): string {
  return name === '' ? 'Passkey' : name
}

interface PasskeyItemProps {
  readonly passkey: Passkey
  readonly onRemove: () => void
}

function PasskeyItem({ passkey, onRemove }: PasskeyItemProps): JSX.Element {
  const { created_at: createdAt, last_used_at: lastUsedAt } = passkey
  return (
    <li>
      <div class="grow">
        <strong>{toPasskeyName(passkey)}</strong>
        <div class="muted small">
          added {formatAge(createdAt)},{' '}
          {lastUsedAt ? `used ${formatAge(lastUsedAt)}` : 'never used'}
        </div>
      </div>
      <Button size="small" label={`Remove ${toPasskeyName(passkey)}`} onClick={onRemove}>
        Remove…
      </Button>
    </li>
  )
}
