import type { JSX } from 'preact'
import type { TextFinding } from '../../../../console/routes/limits.ts'
import { Icon } from '../../../components/icons.tsx'
import { toEditorHref } from '../place.ts'

export interface FindingsProps {
  /** The file in the editor; findings may also concern other files. */
  readonly file: string
  readonly findings: readonly TextFinding[]
  readonly onPick: (finding: TextFinding) => void
}

/** Lists the findings with links to their positions. */
export function Findings({ file, findings, onPick }: FindingsProps): JSX.Element {
  return (
    <ul class="limits-findings" aria-label="Errors and warnings">
      {findings.map((finding) => {
        const { severity, line, column, message, hint } = finding
        return (
          <li
            key={`${finding.file}:${line}:${column}:${message}`}
            class={severity === 'fault' ? 'tone-danger' : 'tone-warn'}
          >
            <Icon name="alert" />
            <div>
              <span class="hidden">{severity === 'fault' ? 'Error: ' : 'Warning: '}</span>
              <span>{toSentence(message)}</span>
              {hint !== undefined && <p class="muted">{toSentence(hint)}</p>}
            </div>
            <FindingPlace finding={finding} file={file} onPick={onPick} />
          </li>
        )
      })}
    </ul>
  )
}

interface FindingPlaceProps {
  readonly finding: TextFinding
  readonly file: string
  readonly onPick: (finding: TextFinding) => void
}

function FindingPlace({ finding, file, onPick }: FindingPlaceProps): JSX.Element | null {
  const { line, column } = finding
  if (finding.file === '') return null
  if (finding.file !== file) {
    return (
      <a
        class="limits-finding-place"
        href={toEditorHref(finding.file, line)}
      >{`${finding.file}:${line ?? 1}`}</a>
    )
  }
  if (line === undefined) return null
  return (
    <button
      type="button"
      class="button quiet small limits-finding-place"
      onClick={() => onPick(finding)}
    >
      {`Line ${line}, column ${column}`}
    </button>
  )
}

function toSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
