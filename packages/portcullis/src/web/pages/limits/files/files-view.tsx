import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ListedFile, LoadReport } from '../../../../console/routes/limits.ts'
import { callApi } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { Empty, Failure, Loading } from '../../../components/states.tsx'
import { showFailure, showSuccess } from '../../../components/toasts.tsx'
import { formatAge } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { usePageLocation } from '../../../use-page-location.ts'
import { toEditorHref } from '../place.ts'
import { NewFileDialog } from './file-dialogs.tsx'
import { RuleEditor } from './rule-editor.tsx'

/** The list of rule files, and the editor for one of them. */
export function FilesView(): JSX.Element {
  const files = useLoaded((signal) => callApi<ListedFile[]>('/api/limits/files', { signal }), [])
  const [isCreating, setCreating] = useState(false)
  const { query, route } = usePageLocation()
  if (files.state === 'loading') return <Loading>Loading rule files…</Loading>
  if (files.state === 'failed') return <Failure error={files.error} onRetry={files.reload} />

  const name = query['file'] ?? files.value[0]?.name
  const line = Number(query['line']) || undefined
  const deleted = (load: LoadReport) => {
    notify(`${name} was deleted.`, load)
    files.reload()
    route('/limits?view=files', true)
  }
  return (
    <div class="limits-files">
      <section class="limits-file-list" aria-label="Rule files">
        <FileList files={files.value} shown={name} />
        <Button size="small" icon="plus" onClick={() => setCreating(true)}>
          New file
        </Button>
      </section>
      {name === undefined ? (
        <Empty icon="limits" title="No rule files yet">
          Without rules every request is allowed. Create a file to add your first limit.
        </Empty>
      ) : (
        <RuleEditor key={name} name={name} line={line} onSaved={files.reload} onDeleted={deleted} />
      )}
      {isCreating && (
        <NewFileDialog
          onCreated={(file) => {
            notify(`${file.name} was created.`, file.load)
            files.reload()
            route(toEditorHref(file.name))
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </div>
  )
}

interface FileListProps {
  readonly files: readonly ListedFile[]
  /** The name of the open file. */
  readonly shown: string | undefined
}

function FileList({ files, shown }: FileListProps): JSX.Element {
  const open = useRef<HTMLAnchorElement>(null)
  // A long list scrolls, and the file that a URL opens may be far down.
  useLayoutEffect(() => open.current?.scrollIntoView({ block: 'nearest' }), [shown])
  return (
    <ul>
      {files.map(({ name, modifiedAt }) => (
        <li key={name}>
          <a
            ref={name === shown ? open : null}
            href={toEditorHref(name)}
            aria-current={name === shown ? 'true' : undefined}
          >
            <span class="mono">{name}</span>
            <span class="muted small">{formatAge(modifiedAt)}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function notify(done: string, { state, message }: LoadReport): void {
  if (state === 'loaded' || state === 'stored') showSuccess(`${done} ${message}`)
  else showFailure(new Error(`${done} ${message}`))
}
