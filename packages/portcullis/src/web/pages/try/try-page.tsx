import type { JSX } from 'preact'
import { Card } from '../../components/card.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty, Loading, Notice } from '../../components/states.tsx'
import { useSession } from '../../session.ts'
import { CallLogCard } from './call-log-card.tsx'
import { GraphqlCard } from './graphql-card.tsx'
import { SignInCard } from './sign-in/sign-in-card.tsx'
import { IdentityCard, SignedIn } from './signed-in/signed-in.tsx'
import { useAuth } from './use-auth.ts'

const title = 'Try it'

export function Page(): JSX.Element {
  const { parts } = useSession()
  if (parts.auth) return <TryAuth />
  return (
    <>
      <PageHeader title={title} summary="Sign up and sign in like a user of your application." />
      <Card>
        <Empty icon="try" title="No auth server">
          Start everything with <code>portcullis up</code>, or connect to a running server:{' '}
          <code>portcullis console --auth-url URL --auth-key KEY</code>
        </Empty>
      </Card>
    </>
  )
}

function TryAuth(): JSX.Element {
  const { parts } = useSession()
  const auth = useAuth()
  const { session, fault } = auth
  return (
    <>
      <PageHeader
        title={title}
        summary="Sign up and sign in like a user of your application, with the original @supabase/auth-js client."
      />
      <div class="try-layout">
        <div class="stack">
          {fault && (
            <Notice tone="danger" title="The link did not sign you in.">
              {fault.message} <code>{fault.code}</code>
            </Notice>
          )}
          {session === undefined && <Loading>Loading the session…</Loading>}
          {session === null && <SignInCard auth={auth} />}
          {session && <IdentityCard auth={auth} session={session} />}
          {parts.graphql && (
            <GraphqlCard token={session?.access_token} isSettled={session !== undefined} />
          )}
          {session && <SignedIn auth={auth} session={session} />}
        </div>
        <div class="try-side">
          <CallLogCard />
        </div>
      </div>
    </>
  )
}
