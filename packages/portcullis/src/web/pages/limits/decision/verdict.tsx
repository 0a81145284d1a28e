import type { JSX } from 'preact'
import type { DecisionAnswer } from '../../../../console/routes/limits.ts'
import { Icon } from '../../../components/icons.tsx'
import { formatNumber } from '../../../format.ts'
import { Explanation } from './explanation.tsx'

type Status = DecisionAnswer['statuses'][number]

/** The decision, what is left, and why. */
export function Verdict({ answer }: { readonly answer: DecisionAnswer }): JSX.Element {
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
          Which rule it met cannot be told: this console has no rule files without faults at hand.
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

/** `34 s`, `12 min`, `5 h`. */
function formatSpan(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} days`
}
