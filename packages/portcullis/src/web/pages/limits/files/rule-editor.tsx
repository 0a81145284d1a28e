import type { JSX } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { CheckedFile, LoadReport, TextFinding } from '../../../../console/routes/limits.ts'
import { callApi } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Card } from '../../../components/card.tsx'
import { CodeEditor, type Jump, type Marker } from '../../../components/editor/code-editor.tsx'
import { Failure, Loading, Notice } from '../../../components/states.tsx'
import { showFailure } from '../../../components/toasts.tsx'
import { formatCountOf } from '../../../format.ts'
import { noteStepDone } from '../../../session.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { DeleteFileDialog } from './file-dialogs.tsx'
import { isTestFile, toLanguage } from './file-kind.ts'
import { Findings } from './findings.tsx'
import { ReviewDialog } from './review-dialog.tsx'
import { TestResults } from './test-results.tsx'
import { usePolicyTests } from './use-policy-tests.ts'
import { dropDraft, type EditedFile, toFilePath, useRuleFile } from './use-rule-file.ts'

interface RuleEditorProps {
  readonly name: string
  /** The line to jump to. */
  readonly line: number | undefined
  readonly onSaved: () => void
  readonly onDeleted: (load: LoadReport) => void
}

export function RuleEditor(props: RuleEditorProps): JSX.Element {
  const { name } = props
  const file = useLoaded((signal) => callApi<CheckedFile>(toFilePath(name), { signal }), [name])
  // Incremented on every reopen, to reset the editor.
  const [turn, setTurn] = useState(0)
  const reopen = () => {
    dropDraft(name)
    file.reload()
    setTurn(turn + 1)
  }
  if (file.state === 'loading') return <Loading>{`Opening ${name}…`}</Loading>
  if (file.state === 'failed') return <Failure error={file.error} onRetry={file.reload} />
  const { version } = file.value
  return <Editor key={`${turn} ${version}`} {...props} opened={file.value} onReopen={reopen} />
}

interface EditorProps extends RuleEditorProps {
  readonly opened: CheckedFile
  readonly onReopen: () => void
}

function Editor(props: EditorProps): JSX.Element {
  const { opened, name, line, onSaved, onDeleted, onReopen } = props
  const file = useRuleFile(opened)
  const [jump, setJump] = useState(toJump(line))
  const [isDeleting, setDeleting] = useState(false)
  const [isReviewing, setReviewing] = useState(false)
  const tests = usePolicyTests(name, file.text)
  const markers = useMemo(() => toMarkers(file.findings, name), [file.findings, name])
  const lastLine = useRef(line)
  // A layout effect, so that the next key press goes to the chosen line.
  useLayoutEffect(() => {
    if (line !== lastLine.current) setJump(toJump(line))
    lastLine.current = line
  }, [line])
  const save = async () => {
    if (!(await file.save())) return
    noteStepDone('/limits')
    onSaved()
  }
  const review = () => {
    if (!file.canSave) return
    // Policy tests change no decision.
    if (isTestFile(name)) void save()
    else setReviewing(true)
  }
  return (
    <Card
      title={name}
      isFlush
      actions={
        <>
          <State file={file} />
          <Button
            kind="quiet"
            size="small"
            icon="trash"
            label={`Delete ${name}`}
            onClick={() => setDeleting(true)}
          >
            Delete
          </Button>
          {file.isChanged && (
            <Button size="small" onClick={file.discard}>
              Discard
            </Button>
          )}
          <Button size="small" icon="check" onClick={tests.start}>
            Run tests
          </Button>
          <Button kind="primary" size="small" isDisabled={!file.canSave} onClick={review}>
            {isTestFile(name) ? 'Save' : 'Review and save'}
          </Button>
        </>
      }
    >
      <Outcome file={file} onReopen={onReopen} />
      <CodeEditor
        class="limits-code"
        label={`Content of ${name}`}
        text={file.text}
        load={toLanguage(name)}
        markers={markers}
        jump={jump}
        onText={file.setText}
        onSave={review}
        onRun={() => void tests.start().catch(showFailure)}
      />
      <p class="muted small limits-code-hint">
        Ctrl+Space completes. Tab indents; press Escape, then Tab, to leave the editor. Ctrl+S
        saves, Ctrl+Enter runs the tests.
      </p>
      {file.findings.length > 0 && (
        <Findings
          file={name}
          findings={file.findings}
          onPick={({ line: at = 1, column = 1 }) => setJump({ line: at, column })}
        />
      )}
      {tests.run !== undefined && <TestResults run={tests.run} />}
      {isReviewing && (
        <ReviewDialog
          name={name}
          before={file.savedText}
          after={file.text}
          onSave={save}
          onClose={() => setReviewing(false)}
        />
      )}
      {isDeleting && (
        <DeleteFileDialog
          name={name}
          version={file.version}
          onDeleted={onDeleted}
          onClose={() => setDeleting(false)}
        />
      )}
    </Card>
  )
}

function toMarkers(findings: readonly TextFinding[], name: string): Marker[] {
  return findings
    .filter(({ file }) => file === name)
    .map(({ severity, line = 1, column = 1, message, hint }) => ({
      severity: severity === 'fault' ? 'error' : 'warning',
      line,
      column,
      message: hint === undefined ? message : `${message} (${hint})`,
    }))
}

function toJump(line: number | undefined): Jump | undefined {
  return line === undefined ? undefined : { line, column: 1 }
}

/** A short summary of the check results. */
function State({ file }: { readonly file: EditedFile }): JSX.Element {
  const count = (severity: 'fault' | 'warning') =>
    file.findings.filter((finding) => finding.severity === severity).length
  const faults = count('fault')
  const warnings = count('warning')
  return (
    <span class="row tight" role="status">
      {file.isChanged && <Badge>Unsaved</Badge>}
      {!file.isChecked && <Badge>Checking…</Badge>}
      {file.isChecked && faults > 0 && (
        <Badge tone="danger">{formatCountOf(faults, 'error')}</Badge>
      )}
      {file.isChecked && warnings > 0 && (
        <Badge tone="warn">{formatCountOf(warnings, 'warning')}</Badge>
      )}
      {file.isChecked && faults + warnings === 0 && <Badge tone="ok">No errors</Badge>}
    </span>
  )
}

const loadTones = { loaded: 'ok', refused: 'danger', unseen: 'warn', stored: 'ok' } as const
const loadTitles = {
  loaded: 'Saved and in force.',
  refused: 'Saved, but not in force.',
  unseen: 'Saved.',
  stored: 'Saved.',
}

/** The result of the last save. */
function Outcome({
  file,
  onReopen,
}: {
  readonly file: EditedFile
  readonly onReopen: () => void
}): JSX.Element | null {
  const { load, conflict, failure } = file
  if (conflict !== undefined) {
    return (
      <div class="limits-notice">
        <Notice tone="danger" title="Not saved.">
          {`${conflict.message} Copy the changes that you want to keep, then reload the file.`}
        </Notice>
        <Button size="small" icon="refresh" onClick={onReopen}>
          Discard changes and reload
        </Button>
      </div>
    )
  }
  if (failure !== undefined) {
    return (
      <div class="limits-notice">
        <Notice tone="danger">{failure}</Notice>
      </div>
    )
  }
  if (load === undefined) return null
  return (
    <div class="limits-notice">
      <Notice tone={loadTones[load.state]} title={loadTitles[load.state]}>
        {load.message}
      </Notice>
    </div>
  )
}
