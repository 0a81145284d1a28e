const then = `now() - interval '1 hour'`

/**
 * Fills the tables of Supabase Auth with users who have an identity, a session and two stored tokens
 * each, so long ago that an import with `--since` does not read them again.
 */
export const fillSource = (users: number): string => `
  insert into users (id, aud, role, email, encrypted_password, email_confirmed_at, created_at, updated_at)
  select md5('u' || n)::uuid, 'authenticated', 'authenticated', 'user-' || n || '@source.example',
    '$2a$10$' || md5(n::text), ${then}, ${then}, ${then}
  from generate_series(1, ${users}) n;
  insert into identities (user_id, provider, provider_id, identity_data, created_at, updated_at)
  select id, 'email', id, jsonb_build_object('sub', id, 'email', email), ${then}, ${then} from users;
  insert into sessions (id, user_id, aal, created_at, updated_at)
  select md5('s' || id)::uuid, id, 'aal1', ${then}, ${then} from users;
  insert into refresh_tokens (token, user_id, session_id, parent, revoked, created_at, updated_at)
  select 'a' || replace(id::text, '-', ''), user_id, id, '', true, ${then}, ${then} from sessions;
  insert into refresh_tokens (token, user_id, session_id, parent, revoked, created_at, updated_at)
  select 'b' || replace(id::text, '-', ''), user_id, id, 'a' || replace(id::text, '-', ''), false, ${then}, ${then}
  from sessions;
  analyze`
