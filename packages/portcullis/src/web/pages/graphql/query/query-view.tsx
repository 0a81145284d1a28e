import type { Extension } from '@codemirror/state'
import type { IntrospectionQuery } from 'graphql'
import type { JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { callApi, toMessage } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { Card } from '../../../components/card.tsx'
import { CodeEditor } from '../../../components/editor/code-editor.tsx'
import { Field } from '../../../components/field.tsx'
import { Loading, Notice } from '../../../components/states.tsx'
import { type Tab, Tabs } from '../../../components/tabs.tsx'
import { useSession } from '../../../session.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { AnswerPanel } from './answer-panel.tsx'
import { HistoryList } from './history-list.tsx'
import { SchemaDocs } from './schema-docs.tsx'
import { type QueryControl, useQuery } from './use-query.ts'
import { UserPicker } from './user-picker.tsx'

type InputTab = 'variables' | 'headers' | 'history'
type ResultTab = 'response' | 'schema'

const inputTabs: readonly Tab<InputTab>[] = [
  { name: 'variables', title: 'Variables' },
  { name: 'headers', title: 'Headers' },
  { name: 'history', title: 'History' },
]
const resultTabs: readonly Tab<ResultTab>[] = [
  { name: 'response', title: 'Response' },
  { name: 'schema', title: 'Schema' },
]

const loadJson = async (): Promise<Extension> => (await import('./json-language.ts')).language

/** An editor for queries to the configured API, with its schema and the response. */
export function QueryView({ url }: { readonly url: string }): JSX.Element {
  const control = useQuery()
  const [resultTab, setResultTab] = useState<ResultTab>('response')
  const [shownType, setShownType] = useState<string>()
  const results = useRef<HTMLDivElement>(null)
  // One request for the editor and the documentation.
  const schema = useMemo(() => callApi<IntrospectionQuery>('/api/graphql/schema'), [])
  const loadLanguage = useMemo(
    () => async (): Promise<Extension> => {
      const { createGraphqlLanguage } = await import('./graphql-language.ts')
      const onShowType = (name: string) => {
        setShownType(name)
        setResultTab('schema')
      }
      return createGraphqlLanguage({ schema: schema.catch(() => undefined), onShowType })
    },
    [schema],
  )
  const send = async () => {
    setResultTab('response')
    await control.send()
    // In a narrow window the response is below the form.
    results.current?.scrollIntoView({ block: 'nearest' })
  }
  const { draft, change } = control
  return (
    <div class="query-layout">
      <Card
        title="Query"
        isFlush
        actions={
          <Button
            kind="primary"
            size="small"
            icon="try"
            isDisabled={control.isSending}
            onClick={send}
          >
            {control.isSending ? 'Sending…' : 'Send'}
          </Button>
        }
      >
        <CodeEditor
          class="query-editor"
          label="GraphQL query"
          text={draft.query}
          load={loadLanguage}
          onText={(query) => change({ query })}
          onRun={() => void send()}
        />
        <p class="muted small query-hint">
          {`Sent by the console to ${url}. Press Escape, then Tab, to leave the editor.`}
        </p>
        <QueryInputs control={control} onSend={() => void send()} />
      </Card>
      <div ref={results}>
        {' '}
        <Card>
          <Tabs label="Results" tabs={resultTabs} shown={resultTab} onShow={setResultTab}>
            {resultTab === 'response' ? (
              <AnswerPanel answer={control.answer} error={control.error} />
            ) : (
              <Schema schema={schema} shown={shownType} onShow={setShownType} />
            )}
          </Tabs>
        </Card>
      </div>
    </div>
  )
}

interface QueryInputsProps {
  readonly control: QueryControl
  readonly onSend: () => void
}

/** Everything that is sent besides the query. */
function QueryInputs({ control, onSend }: QueryInputsProps): JSX.Element {
  const { draft, change, operations, history, forget } = control
  const { auth } = useSession().parts
  const [tab, setTab] = useState<InputTab>('variables')
  return (
    <div class="stack query-inputs">
      {operations.length > 1 && (
        <Field label="Operation">
          <select
            class="input"
            value={operations.includes(draft.operation) ? draft.operation : operations[0]}
            onChange={(event) => change({ operation: event.currentTarget.value })}
          >
            {operations.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </Field>
      )}
      {auth !== undefined && <UserPicker user={draft.user} onPick={(user) => change({ user })} />}
      <Tabs label="Request" tabs={inputTabs} shown={tab} onShow={setTab}>
        {tab === 'variables' && (
          <CodeEditor
            class="query-variables"
            label="Variables as JSON"
            text={draft.variables}
            load={loadJson}
            onText={(variables) => change({ variables })}
            onRun={onSend}
          />
        )}
        {tab === 'headers' && (
          <Field
            label="Request headers"
            hint="One per line, as Name: value. The history does not keep headers that may contain secrets."
          >
            <textarea
              class="input mono"
              rows={4}
              spellcheck={false}
              value={draft.headers}
              onInput={(event) => change({ headers: event.currentTarget.value })}
            />
          </Field>
        )}
        {tab === 'history' && (
          <HistoryList
            history={history}
            onPick={({ query, variables, headers }) => change({ query, variables, headers })}
            onClear={forget}
          />
        )}
      </Tabs>
    </div>
  )
}

interface SchemaProps {
  readonly schema: Promise<IntrospectionQuery>
  readonly shown: string | undefined
  readonly onShow: (name: string | undefined) => void
}

function Schema({ schema, shown, onShow }: SchemaProps): JSX.Element {
  const loaded = useLoaded(() => schema, [schema])
  if (loaded.state === 'loading') return <Loading>Loading the schema…</Loading>
  if (loaded.state === 'failed') return <Notice tone="warn">{toMessage(loaded.error)}</Notice>
  return <SchemaDocs schema={loaded.value.__schema} shown={shown} onShow={onShow} />
}
