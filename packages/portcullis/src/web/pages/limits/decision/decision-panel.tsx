import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { DecisionAnswer } from '../../../../console/routes/limits.ts'
import { callApi, toMessage } from '../../../api.ts'
import { Card } from '../../../components/card.tsx'
import { Icon } from '../../../components/icons.tsx'
import { Notice } from '../../../components/states.tsx'
import { formatNumber, formatTime } from '../../../format.ts'
import { toEditorHref } from '../place.ts'
import type { RuleRow } from '../rules/rule-rows.ts'
import {
  DecisionForm,
  emptyRequest,
  type RequestDraft,
  toDecisionRequest,
  toExampleEntries,
} from './decision-form.tsx'

interface DecisionPanelProps {
  readonly canRequest: boolean
  readonly domains: readonly string[]
  /** The rule that was clicked. */
  readonly picked: RuleRow | undefined
}

interface Outcome {
  readonly answer?: DecisionAnswer
  readonly error?: unknown
}

/** Sends a request to the service and shows the decision. */
export function DecisionPanel({ canRequest, domains, picked }: DecisionPanelProps): JSX.Element {
  const [request, setRequest] = useState<RequestDraft>({
    ...emptyRequest,
    domain: domains[0] ?? '',
  })
  const [outcome, setOutcome] = useState<Outcome>({})
  const panel = useRef<HTMLDivElement>(null)
  const isFocusDue = useRef(false)
  // Both are layout effects, so that the next key press goes to the new fields and no typed text is
  // overwritten.
  useLayoutEffect(() => {
    if (!isFocusDue.current) return
    isFocusDue.current = false
    const fields = panel.current?.querySelectorAll<HTMLInputElement>('[data-field="value"]')
    // The value is most likely to be changed next.
    if (fields) [...fields].at(-1)?.focus({ preventScroll: true })
  }, [request])
  useLayoutEffect(() => {
    if (picked === undefined) return
    const descriptors = [toExampleEntries(picked)]
    setRequest((last) => ({ ...last, domain: picked.domain, descriptors }))
    setOutcome({})
    panel.current?.scrollIntoView({ block: 'nearest' })
    // The fields exist once the request is rendered.
    isFocusDue.current = true
  }, [picked])

  const send = async () => {
    try {
      const body = toDecisionRequest(request)
      setOutcome({ answer: await callApi('/api/limits/decide', { method: 'POST', body }) })
    } catch (error) {
      setOutcome({ error })
    }
  }
  return (
    <div ref={panel} class="limits-decision">
      <Card title="Request a decision">
        {canRequest ? (
          <div class="stack">
            <DecisionForm
              request={request}
              domains={domains}
              onChange={setRequest}
              onSubmit={send}
            />
            <div class="stack" aria-live="polite">
              {outcome.error !== undefined && (
                <Notice tone="danger">{toMessage(outcome.error)}</Notice>
              )}
              {outcome.answer && <Verdict answer={outcome.answer} />}
            </div>
          </div>
        ) : (
          <p class="muted">
            The HTTP port of the rate limit service is not configured. Start the console with{' '}
            <code>--ratelimit-url</code> to request decisions.
          </p>
        )}
      </Card>
    </div>
  )
}

type Status = DecisionAnswer['statuses'][number]

/** The decision, the remaining quota and the explanation. */
function Verdict({ answer }: { readonly answer: DecisionAnswer }): JSX.Element {
  const { code, statuses, headers, tookMs, explanations } = answer
  const isOk = code === 'OK'
  return (
    <>
      <div class={`limits-verdict ${isOk ? 'tone-ok' : 'tone-danger'}`}>
        <Icon name={isOk ? 'check' : 'close'} />
        <div>
          <strong>{isOk ? 'OK' : 'Over limit'}</strong>
          <ul>
            {statuses.map((status, at) => (
              <li key={at}>{toStatusText(status, statuses.length > 1)}</li>
            ))}
          </ul>
        </div>
        <span class="muted small nowrap">{`${formatNumber(tookMs)} ms`}</span>
      </div>
      {headers.length > 0 && (
        <dl class="limits-headers mono">
          {headers.map(({ key, value }) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {explanations?.map((explanation, at) => (
        <Explanation key={at} explanation={explanation} />
      ))}
      {explanations === undefined && (
        <p class="muted small">
          The matching rule is unknown: the console has no rule files, or they contain errors.
        </p>
      )}
    </>
  )
}

function toStatusText({ code, limitText, remaining, resetSeconds }: Status, isOneOf: boolean) {
  if (limitText === undefined) return 'No limit applies'
  const verdict = isOneOf ? `${code === 'OK' ? 'OK' : 'Over limit'}: ` : ''
  const reset = resetSeconds === undefined ? '' : `, resets in ${formatSpan(resetSeconds)}`
  return `${verdict}${formatNumber(remaining)} left of ${limitText}${reset}`
}

/** Such as `34 s`, `12 min` or `5 h`, without a line break before the unit. */
function formatSpan(seconds: number): string {
  if (seconds < 120) return `${seconds}\u00A0s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)}\u00A0min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)}\u00A0h`
  return `${Math.round(seconds / 86_400)}\u00A0days`
}

type Explained = NonNullable<DecisionAnswer['explanations']>[number]
type Level = Explained['levels'][number]

const conclusions: Readonly<Record<Explained['outcome'], string>> = {
  limited: 'This rule limits the request.',
  unlimited: 'This rule is unlimited: nothing is counted.',
  'limited by the request': 'The limit given in the request applies.',
  whitelisted: 'This rule has no limit: the request is allowed, and nothing is counted.',
  placeholder: 'The matching rule itself has no limit: nothing is counted.',
  'no rule': 'No rule matches: the request is allowed, and nothing is counted.',
  'unknown domain':
    'No rule file defines this domain: the request is allowed, and nothing is counted.',
}

/** Shows step by step how the service matched a rule. */
function Explanation({ explanation }: { readonly explanation: Explained }): JSX.Element {
  const { outcome, levels, nearMisses, replacedBy } = explanation
  return (
    <section class="limits-why" aria-label="Why">
      <h3>Why</h3>
      {levels.length > 0 && (
        <ol class="limits-steps">
          {levels.map((level, at) => (
            <LevelStep key={at} level={level} />
          ))}
        </ol>
      )}
      <p class="limits-conclusion">
        {replacedBy === undefined
          ? conclusions[outcome]
          : `Rule ${replacedBy}, which also matches the request, replaces this rule: nothing is counted.`}
      </p>
      {nearMisses.length > 0 && (
        <div class="limits-near-misses">
          <h4>Rules that almost match</h4>
          <ul>
            {nearMisses.map((hint) => (
              <li key={hint}>{hint}</li>
            ))}
          </ul>
        </div>
      )}
      <Facts explanation={explanation} />
    </section>
  )
}

function LevelStep({ level }: { readonly level: Level }): JSX.Element {
  const { key, value, attempts, rule } = level
  return (
    <li class="limits-step">
      <span class="limits-step-entry mono">{`${key}=${value}`}</span>
      <ul class="limits-attempts">
        {attempts.map(({ step, isMatch, reason }) => (
          <li key={step} class={isMatch ? 'limits-match' : 'limits-miss'}>
            <Icon name={isMatch ? 'check' : 'close'} />
            <span>
              <span class="hidden">{isMatch ? 'Matches: ' : 'Does not match: '}</span>
              {reason}
            </span>
          </li>
        ))}
      </ul>
      {rule && (
        <a class="small" href={toEditorHref(rule.place.file, rule.place.line)}>
          {`${rule.place.file}, line ${rule.place.line}`}
        </a>
      )}
    </li>
  )
}

function Facts({ explanation }: { readonly explanation: Explained }): JSX.Element | null {
  const { match, counter } = explanation
  if (match === undefined) return null
  const { limit, statisticsKey } = match
  const facts: [name: string, fact: string | undefined][] = [
    ['Counter', counter?.key],
    ['Window ends', counter && formatTime(counter.windowEnd * 1000)],
    ['Statistics', statisticsKey],
    ['Shadow mode', limit.shadowMode ? 'requests over the limit are allowed' : undefined],
    [
      'Quota mode',
      limit.quotaMode ? 'refused only when all quota rules are over their limits' : undefined,
    ],
  ]
  return (
    <dl class="limits-why-facts">
      {facts.map(([name, fact]) =>
        fact === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="mono">{fact}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
