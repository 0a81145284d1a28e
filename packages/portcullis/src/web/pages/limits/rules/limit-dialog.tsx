import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { LimitChange, LimitRequest } from '../../../../console/routes/limits.ts'
import { callApi, toMessage } from '../../../api.ts'
import { FormDialog } from '../../../components/dialog.tsx'
import { Field } from '../../../components/field.tsx'
import { Loading, Notice } from '../../../components/states.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { useLoaded } from '../../../use-loaded.ts'
import { DecisionChanges } from '../files/decision-changes.tsx'
import { type RuleRow, toRuleLabel } from './rule-rows.ts'

const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year']
const pauseMs = 300

type NewLimit = Pick<LimitRequest, 'requestsPerUnit' | 'unit'>

interface LimitDialogProps {
  readonly row: RuleRow
  readonly onClose: () => void
}

/** Changes the limit of one rule in its file, and shows the effect before it is saved. */
export function LimitDialog({ row, onClose }: LimitDialogProps): JSX.Element {
  const { rule } = row
  const { requestsPerUnit: count = 0, unit: oldUnit = 'MINUTE' } = rule.limit ?? {}
  const [limit, setLimit] = useState({ count: `${count}`, unit: oldUnit.toLowerCase() })
  const wanted: NewLimit = { requestsPerUnit: Number(limit.count), unit: limit.unit }
  const save = async () => {
    const { after, load } = await callLimit(rule.path, { ...wanted, isDryRun: false })
    showSuccess(`The limit is now ${after}. ${load?.message ?? ''}`.trim())
  }
  return (
    <FormDialog
      title={`Change the limit of ${row.levels.map(toRuleLabel).join(' › ')}`}
      action="Save"
      size="wide"
      onSubmit={save}
      onClose={onClose}
    >
      <div class="limits-new-limit">
        <Field label="Requests">
          <input
            class="input"
            type="number"
            min="0"
            max="4294967295"
            step="1"
            required
            value={limit.count}
            onInput={({ currentTarget }) => setLimit({ ...limit, count: currentTarget.value })}
          />
        </Field>
        <Field label="Per">
          <select
            class="input"
            value={limit.unit}
            onChange={({ currentTarget }) => setLimit({ ...limit, unit: currentTarget.value })}
          >
            {units.map((unit) => (
              <option key={unit} value={unit}>
                {unit}
              </option>
            ))}
          </select>
        </Field>
      </div>
      <p class="muted small">
        Now {rule.limitText}
        {rule.place && `, in ${rule.place.file}, line ${rule.place.line}`}.
      </p>
      {/^\d+$/.test(limit.count) && <Effect rule={rule.path} limit={wanted} />}
    </FormDialog>
  )
}

function callLimit(rule: string, body: Omit<LimitRequest, 'rule'>, signal?: AbortSignal) {
  return callApi<LimitChange>('/api/limits/limit', {
    method: 'POST',
    body: { rule, ...body },
    ...(signal && { signal }),
  })
}

interface EffectProps {
  readonly rule: string
  readonly limit: NewLimit
}

/** Replays the latest requests after a pause in typing. */
function Effect({ rule, limit: { requestsPerUnit, unit } }: EffectProps): JSX.Element {
  const [settled, setSettled] = useState({ requestsPerUnit, unit })
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ requestsPerUnit, unit }), pauseMs)
    return () => clearTimeout(timer)
  }, [requestsPerUnit, unit])
  const change = useLoaded(
    (signal) => callLimit(rule, { ...settled, isDryRun: true }, signal),
    [settled.requestsPerUnit, settled.unit],
  )
  if (change.state === 'loading') return <Loading>Replaying the latest requests…</Loading>
  if (change.state === 'failed') return <Notice tone="danger">{toMessage(change.error)}</Notice>
  const { comparison, reason } = change.value.review
  if (comparison === undefined) return <Notice>{reason}</Notice>
  return <DecisionChanges comparison={comparison} />
}
