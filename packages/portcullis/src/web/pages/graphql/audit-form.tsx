import type { JSX, TargetedSubmitEvent } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { AuditProfile, AuditSettings } from '../../../console/routes/audits-plan.ts'
import { toMessage } from '../../api.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Field } from '../../components/field.tsx'
import { Notice } from '../../components/states.tsx'

const profiles: readonly { readonly name: AuditProfile; readonly title: string }[] = [
  { name: 'classic', title: 'Classic (most servers)' },
  { name: '2026', title: 'Draft of August 2026' },
]

export interface AuditFormProps {
  /** The URL of the API that this console was configured with. */
  readonly ownUrl: string | undefined
  /** The URL of the API that exempts audits from its rate limits. */
  readonly uncountedUrl: string | undefined
  /** Whether it is not yet known which URL is exempt. */
  readonly isLoading: boolean
  readonly isRunning: boolean
  readonly onStart: (settings: AuditSettings) => Promise<void>
  readonly onStop: () => Promise<void>
}

export function AuditForm(props: AuditFormProps): JSX.Element {
  const { ownUrl, uncountedUrl, isLoading, isRunning, onStart, onStop } = props
  const [url, setUrl] = useState(ownUrl ?? '')
  const [error, setError] = useState<unknown>()
  const [isStarting, setStarting] = useState(false)
  const extendedId = useId()

  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setStarting(true)
    setError(undefined)
    try {
      await onStart({
        url,
        headers: String(form.get('headers') ?? ''),
        profile: form.get('profile') === '2026' ? '2026' : 'classic',
        extended: form.has('extended'),
      })
    } catch (reason) {
      setError(reason)
    } finally {
      setStarting(false)
    }
  }
  return (
    <Card>
      <form class="stack" onSubmit={submit}>
        <div class="audit-order">
          <Field label="Server URL" hint={isLoading ? '\u00a0' : toHint(url, uncountedUrl)}>
            <input
              class="input mono"
              type="url"
              name="url"
              required
              spellcheck={false}
              placeholder="https://api.example.com/graphql"
              value={url}
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
          </Field>
          <Field label="Status codes">
            <select class="input" name="profile">
              {profiles.map(({ name, title }) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          </Field>
        </div>
        <details class="audit-options">
          <summary>Headers and stricter audits</summary>
          <div class="stack">
            <Field
              label="Request headers"
              hint="One per line. They are sent to this server only and do not appear in the report."
            >
              <textarea
                class="input mono"
                name="headers"
                rows={2}
                spellcheck={false}
                placeholder="Authorization: Bearer …"
              />
            </Field>
            <div class="audit-check">
              <input id={extendedId} type="checkbox" name="extended" />
              <label for={extendedId}>
                Include stricter variants of lenient audits (X101 and up)
              </label>
            </div>
          </div>
        </details>
        {error !== undefined && <Notice tone="danger">{toMessage(error)}</Notice>}
        <div class="row">
          <Button type="submit" kind="primary" icon="try" isDisabled={isStarting || isRunning}>
            {isStarting ? 'Connecting…' : 'Run audits'}
          </Button>
          {isRunning && (
            <Button icon="close" onClick={onStop}>
              Stop
            </Button>
          )}
        </div>
      </form>
    </Card>
  )
}

function toHint(url: string, uncountedUrl: string | undefined): string {
  if (url !== '' && url === uncountedUrl)
    return 'The local API. Audits do not count towards its rate limits.'
  return 'The console sends the requests, not your browser. They count towards the rate limits of the server.'
}
