import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Metadata } from '../../../../console/routes/users-upstream.ts'
import { toMessage } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { Field } from '../../../components/field.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { parseJsonObject } from '../../../json-object.ts'
import { changeUser } from '../change-user.ts'
import { toMetadataChange } from '../metadata.ts'
import type { TabProps } from './tab.ts'

interface MetadataEditorProps extends TabProps {
  readonly title: string
  readonly hint: string
  readonly field: 'user_metadata' | 'app_metadata'
}

const mostLines = 14

export function MetadataEditor(props: MetadataEditorProps): JSX.Element {
  const { title, hint, field, user, onChange } = props
  const before = toText(user[field])
  const [text, setText] = useState(before)
  const [fault, setFault] = useState<string>()
  const type = (typed: string) => {
    setText(typed)
    setFault(undefined)
  }
  const save = async () => {
    const parsed = parseJsonObject(text)
    if ('fault' in parsed) {
      const { line, column, message } = parsed.fault
      return setFault(`Line ${line}, column ${column}: ${message}.`)
    }
    const change = toMetadataChange(user[field], parsed.value)
    if (change === undefined) return setText(before)
    try {
      const changed = await changeUser(user.id, { [field]: change })
      onChange(changed)
      setText(toText(changed[field]))
      showSuccess(`${title} saved.`)
    } catch (error) {
      setFault(toMessage(error))
    }
  }
  const isDifferent = text !== before
  const rows = Math.min(mostLines, text.split('\n').length + 1)
  return (
    <div class="user-metadata stack tight">
      <Field label={title} hint={hint} fault={fault}>
        <textarea
          class="input mono"
          rows={rows}
          spellcheck={false}
          autocomplete="off"
          value={text}
          onInput={(event) => type(event.currentTarget.value)}
        />
      </Field>
      {isDifferent && (
        <div class="row tight">
          <Button kind="primary" size="small" label={`Save ${title}`} onClick={save}>
            Save
          </Button>
          <Button
            kind="quiet"
            size="small"
            label={`Discard changes to ${title}`}
            onClick={() => type(before)}
          >
            Discard
          </Button>
        </div>
      )}
    </div>
  )
}

function toText(metadata: Metadata): string {
  return JSON.stringify(metadata, undefined, 2)
}
