import { useEffect, useRef, useState } from 'preact/hooks'
import type {
  CheckedFile,
  LoadReport,
  SavedFile,
  TextFinding,
} from '../../../../console/routes/limits.ts'
import { ApiError, callApi, toMessage } from '../../../api.ts'

/** A rule file in the editor. */
export interface EditedFile {
  readonly text: string
  /** The text on disk. */
  readonly savedText: string
  /** The version that the text is based on. */
  readonly version: string
  readonly isChanged: boolean
  readonly findings: readonly TextFinding[]
  /** Whether the findings belong to the current text. */
  readonly isChecked: boolean
  readonly canSave: boolean
  /** The result of the last save. */
  readonly load: LoadReport | undefined
  /** Why the last save or check failed. */
  readonly failure: string | undefined
  /** Set if the file was changed or deleted on disk. */
  readonly conflict: ApiError | undefined
  readonly setText: (text: string) => void
  readonly save: () => Promise<boolean>
  readonly discard: () => void
}

const checkDelayMs = 250
const conflictCodes = new Set(['file_changed', 'file_gone'])

export function toFilePath(name: string): string {
  return `/api/limits/files/${encodeURIComponent(name)}`
}

export function useRuleFile(file: CheckedFile): EditedFile {
  const { name } = file
  const draft = readDraft(name)
  const [saved, setSaved] = useState(file)
  const [text, setText] = useState(draft?.text ?? file.text)
  const [version, setVersion] = useState(draft?.version ?? file.version)
  const [checked, setChecked] = useState({ text: file.text, findings: file.findings })
  const [load, setLoad] = useState<LoadReport>()
  const [failure, setFailure] = useState<string>()
  const [conflict, setConflict] = useState<ApiError>()
  const isChanged = text !== saved.text
  const isChecked = checked.text === text
  const isFine = isChecked && !checked.findings.some(({ isBlocking }) => isBlocking)
  const isSaving = useRef(false)

  useEffect(() => {
    if (text === checked.text) return
    const leaving = new AbortController()
    const { signal } = leaving
    const check = async () => {
      const path = `${toFilePath(name)}/check`
      try {
        const findings = await callApi<TextFinding[]>(path, {
          method: 'POST',
          body: { text },
          signal,
        })
        setChecked({ text, findings })
        setFailure(undefined)
      } catch (error) {
        if (!signal.aborted) setFailure(`The file could not be checked. ${toMessage(error)}`)
      }
    }
    const timer = setTimeout(() => void check(), checkDelayMs)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [name, text, checked.text])

  const change = (next: string) => {
    setText(next)
    setLoad(undefined)
    if (next === saved.text) dropDraft(name)
    else keepDraft(name, { text: next, version })
  }

  const save = async (): Promise<boolean> => {
    if (isSaving.current || !isChanged || !isFine) return false
    isSaving.current = true
    setFailure(undefined)
    try {
      const body = { text, version }
      const answer = await callApi<SavedFile>(toFilePath(name), { method: 'PUT', body })
      dropDraft(name)
      setSaved(answer)
      setVersion(answer.version)
      setChecked({ text: answer.text, findings: answer.findings })
      setLoad(answer.load)
      setConflict(undefined)
      return true
    } catch (error) {
      if (error instanceof ApiError && conflictCodes.has(error.code)) setConflict(error)
      else setFailure(toMessage(error))
      return false
    } finally {
      isSaving.current = false
    }
  }

  const discard = () => {
    dropDraft(name)
    setText(saved.text)
    setFailure(undefined)
  }

  return {
    text,
    savedText: saved.text,
    version,
    isChanged,
    findings: checked.findings,
    isChecked,
    canSave: isChanged && isFine,
    load,
    failure,
    conflict,
    setText: change,
    save,
    discard,
  }
}

/** Unsaved changes of a file. */
interface Draft {
  readonly text: string
  /** The version that the changes are based on. */
  readonly version: string
}

/** Kept while other pages are shown, but lost on reload. */
const drafts = new Map<string, Draft>()

function readDraft(name: string): Draft | undefined {
  return drafts.get(name)
}

function keepDraft(name: string, draft: Draft): void {
  if (drafts.size === 0) addEventListener('beforeunload', warn)
  drafts.set(name, draft)
}

export function dropDraft(name: string): void {
  drafts.delete(name)
  if (drafts.size === 0) removeEventListener('beforeunload', warn)
}

/** Makes the browser ask for confirmation before the page is closed. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
