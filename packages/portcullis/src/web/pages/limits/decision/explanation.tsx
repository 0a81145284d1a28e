import type { JSX } from 'preact'
import type { DecisionAnswer } from '../../../../console/routes/limits.ts'
import { Icon } from '../../../components/icons.tsx'
import { formatTime } from '../../../format.ts'
import { toEditorHref } from '../place.ts'

type Explained = NonNullable<DecisionAnswer['explanations']>[number]
type Level = Explained['levels'][number]

const conclusions: Readonly<Record<Explained['outcome'], string>> = {
  limited: 'This rule limits the request.',
  unlimited: 'This rule sets no bound: nothing is counted.',
  'limited by the request': 'The limit that came with the request applies.',
  whitelisted: 'This rule has no limit: the request passes, and nothing is counted.',
  placeholder: 'The rule at this depth has no limit of its own: nothing is counted.',
  'no rule': 'No rule fits: the request passes, and nothing is counted.',
  'unknown domain': 'No file has this domain: the request passes, and nothing is counted.',
}

/** How the service came to a rule, step by step. */
export function Explanation({ explanation }: { readonly explanation: Explained }): JSX.Element {
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
          : `The rule ${replacedBy} of the same request replaces this one: nothing is counted.`}
      </p>
      {nearMisses.length > 0 && (
        <div class="limits-near-misses">
          <h4>What comes close</h4>
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
    ['Shadow', limit.shadowMode ? 'OK even when over the limit' : undefined],
    ['Quota', limit.quotaMode ? 'refuses only when all quota rules are over' : undefined],
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
