import type { JSX } from 'preact'
import type { AuditRunView } from '../../../console/routes/audits-run.ts'
import { levels } from './levels.ts'

/** Every audit as a small field that takes its colour when it ends. The lists below say the same in words. */
export function AuditMatrix({ run }: { readonly run: AuditRunView }): JSX.Element {
  return (
    <div class="audit-matrix" aria-hidden="true">
      {run.audits.map(({ id, name, level }) => (
        <span key={id} title={`${id} ${name}`} class={toTone(run, id, level)} />
      ))}
    </div>
  )
}

function toTone({ outcomes }: AuditRunView, id: string, level: string): string {
  const outcome = outcomes[id]
  if (outcome === undefined) return ''
  if (outcome.status === 'ok') return 'tone-ok'
  return `tone-${levels.find(({ name }) => name === level)?.tone}`
}
