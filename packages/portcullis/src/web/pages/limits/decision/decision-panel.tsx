import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { DecisionAnswer } from '../../../../console/routes/limits.ts'
import { callApi, toMessage } from '../../../api.ts'
import { Card } from '../../../components/card.tsx'
import { Notice } from '../../../components/states.tsx'
import type { RuleRow } from '../rules/rule-rows.ts'
import {
  type AskedRequest,
  emptyRequest,
  toDecisionRequest,
  toExampleEntries,
} from './asked-request.ts'
import { DecisionForm } from './decision-form.tsx'
import { Verdict } from './verdict.tsx'

export interface DecisionPanelProps {
  readonly canAsk: boolean
  readonly domains: readonly string[]
  /** The rule that somebody clicked. */
  readonly picked: RuleRow | undefined
}

interface Asked {
  readonly answer?: DecisionAnswer
  readonly error?: unknown
}

/** Sends a descriptor to the service, and shows what became of it. */
export function DecisionPanel({ canAsk, domains, picked }: DecisionPanelProps): JSX.Element {
  const [request, setRequest] = useState<AskedRequest>({
    ...emptyRequest,
    domain: domains[0] ?? '',
  })
  const [asked, setAsked] = useState<Asked>({})
  const panel = useRef<HTMLDivElement>(null)
  const isFocusDue = useRef(false)
  // Both effects run before the browser handles the next key: it is meant for the new fields, and
  // nothing that is typed into them may be overwritten.
  useLayoutEffect(() => {
    if (!isFocusDue.current) return
    isFocusDue.current = false
    const fields = panel.current?.querySelectorAll<HTMLInputElement>('[data-field="value"]')
    // What is most likely to be changed next.
    if (fields) [...fields].at(-1)?.focus({ preventScroll: true })
  }, [request])
  useLayoutEffect(() => {
    if (picked === undefined) return
    const descriptors = [toExampleEntries(picked)]
    setRequest((last) => ({ ...last, domain: picked.domain, descriptors }))
    setAsked({})
    panel.current?.scrollIntoView({ block: 'nearest' })
    // The fields of the rule are there once the request is rendered.
    isFocusDue.current = true
  }, [picked])

  const ask = async () => {
    try {
      const body = toDecisionRequest(request)
      setAsked({ answer: await callApi('/api/limits/decide', { method: 'POST', body }) })
    } catch (error) {
      setAsked({ error })
    }
  }
  return (
    <div ref={panel} class="limits-decision">
      <Card title="Ask for a decision">
        {canAsk ? (
          <div class="stack">
            <DecisionForm
              request={request}
              domains={domains}
              onChange={setRequest}
              onSubmit={ask}
            />
            <div class="stack" aria-live="polite">
              {asked.error !== undefined && <Notice tone="danger">{toMessage(asked.error)}</Notice>}
              {asked.answer && <Verdict answer={asked.answer} />}
            </div>
          </div>
        ) : (
          <p class="muted">
            This console knows only the debug port of the service. Start it with{' '}
            <code>--ratelimit-url</code> to ask for decisions.
          </p>
        )}
      </Card>
    </div>
  )
}
