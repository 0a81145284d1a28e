import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callHeaders, toMessage } from '../../api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Field } from '../../components/field.tsx'
import { Notice } from '../../components/states.tsx'
import { isLimitHeader, toPretty, toStatusTone } from '../../graphql-answer.ts'
import { loggedFetch } from './call-log-card.tsx'

interface Answer {
  readonly isAnonymous: boolean
  readonly status: number
  readonly text: string
  /** The rate limit headers. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

const manyTimes = 30

interface GraphqlCardProps {
  /** The access token of the signed-in user. */
  readonly token: string | undefined
  /** Whether the session has been loaded. */
  readonly isSettled: boolean
}

/** Sends queries to the GraphQL API, with the token of the signed-in user if there is one. */
export function GraphqlCard({ token, isSettled }: GraphqlCardProps): JSX.Element {
  const [query, setQuery] = useState('{ me { email } }')
  const [answer, setAnswer] = useState<Answer>()
  const [statuses, setStatuses] = useState<readonly number[]>([])
  const [error, setError] = useState<unknown>()

  const sendTimes = (times: number) => async () => {
    setError(undefined)
    setStatuses([])
    let wasLimited = false
    try {
      for (let time = 0; time < times; time++) {
        const next = await send(query, token)
        const isLimited = next.status === 429
        wasLimited ||= isLimited
        // A new window may begin during the series. The response that shows the limit stays visible.
        if (isLimited || !wasLimited) setAnswer(next)
        if (times > 1) setStatuses((before) => [...before, next.status])
      }
    } catch (reason) {
      setError(reason)
    }
  }
  return (
    <Card
      title="Query the GraphQL API"
      actions={
        <Badge tone={token === undefined ? undefined : 'ok'}>
          {token === undefined ? 'Anonymous' : 'With your token'}
        </Badge>
      }
    >
      <div class="stack">
        <Field label="Query">
          <textarea
            class="input mono"
            rows={2}
            spellcheck={false}
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
        </Field>
        <div class="row">
          <Button kind="primary" icon="try" isDisabled={!isSettled} onClick={sendTimes(1)}>
            Send query
          </Button>
          <Button isDisabled={!isSettled} onClick={sendTimes(manyTimes)}>
            Send {manyTimes} times
          </Button>
          <span class="muted small">
            {token === undefined
              ? 'Anonymous callers are limited by address.'
              : 'You are limited by user, from any address.'}
          </span>
        </div>
        {error !== undefined && <Notice tone="danger">{toMessage(error)}</Notice>}
        {statuses.length > 0 && <Statuses statuses={statuses} />}
        {answer?.isAnonymous === (token === undefined) && <AnswerView answer={answer} />}
      </div>
    </Card>
  )
}

async function send(query: string, token: string | undefined): Promise<Answer> {
  const response = await loggedFetch('/graphql', {
    method: 'POST',
    headers: {
      ...callHeaders,
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ query }),
  })
  return {
    isAnonymous: token === undefined,
    status: response.status,
    text: toPretty(await response.text()),
    headers: [...response.headers].filter(isLimitHeader),
  }
}

function Statuses({ statuses }: { readonly statuses: readonly number[] }): JSX.Element {
  const over = statuses.filter((status) => status === 429).length
  const fine = statuses.filter((status) => status === 200).length
  return (
    <div class="stack tight" aria-live="polite">
      <div class="try-statuses" aria-hidden="true">
        {statuses.map((status, index) => (
          // Items are only appended, so the index is a stable key.
          <span
            key={index}
            class={`tone-${toStatusTone(status)}`}
            title={`${index + 1}: ${status}`}
          />
        ))}
      </div>
      <p class="small">
        <strong>{fine}</strong> succeeded (200), <strong>{over}</strong> over the limit (429)
        {fine + over < statuses.length && `, ${statuses.length - fine - over} with another status`}
      </p>
    </div>
  )
}

function AnswerView({
  answer: { status, text, headers },
}: {
  readonly answer: Answer
}): JSX.Element {
  return (
    <div class="stack tight">
      <div class="row tight">
        <Badge tone={toStatusTone(status)}>{status}</Badge>
        {headers.map(([name, value]) => (
          <span key={name} class="try-header mono">
            {name}: <strong>{value}</strong>
          </span>
        ))}
      </div>
      <pre class="code-block try-answer">{text}</pre>
    </div>
  )
}
