-- What GET /admin/users needs to be quick with millions of users.

-- A page is read off this index from whichever end is nearer, without looking at the table.
create index users_page on {ns}.users (aud, created_at, id);
drop index {ns}.users_created_at;

-- How many users there are, kept by triggers: counting a million takes longer than all the rest. The
-- number is spread over some rows, so that sign-ups at the same time do not wait for each other.
create table {ns}.user_counts (
  aud text not null,
  slot smallint not null,
  count bigint not null,
  primary key (aud, slot)
) with (fillfactor = 50);

create function {ns}.count_users() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into {ns}.user_counts as c (aud, slot, count)
    select aud, pg_backend_pid() % 16, count(*) from changed group by aud order by aud
    on conflict (aud, slot) do update set count = c.count + excluded.count;
  elsif tg_op = 'DELETE' then
    insert into {ns}.user_counts as c (aud, slot, count)
    select aud, pg_backend_pid() % 16, -count(*) from changed group by aud order by aud
    on conflict (aud, slot) do update set count = c.count + excluded.count;
  elsif tg_op = 'UPDATE' then
    insert into {ns}.user_counts as c (aud, slot, count)
    values (old.aud, pg_backend_pid() % 16, -1), (new.aud, pg_backend_pid() % 16, 1)
    on conflict (aud, slot) do update set count = c.count + excluded.count;
  else
    delete from {ns}.user_counts;
  end if;
  return null;
end
$$;

create trigger count_inserted after insert on {ns}.users
  referencing new table as changed for each statement execute function {ns}.count_users();
create trigger count_deleted after delete on {ns}.users
  referencing old table as changed for each statement execute function {ns}.count_users();
create trigger count_moved after update of aud on {ns}.users
  for each row when (old.aud is distinct from new.aud) execute function {ns}.count_users();
create trigger count_truncated after truncate on {ns}.users
  for each statement execute function {ns}.count_users();

insert into {ns}.user_counts (aud, slot, count)
select aud, 0, count(*) from {ns}.users group by aud;

-- The filter looks for a part of a text, which takes an index of trigrams. Where the extension can
-- neither be found nor made, the filter works without it, by reading every user; docs/auth.md tells
-- how to add the index later.
do $$
declare
  home text;
begin
  begin
    create extension if not exists pg_trgm;
  exception when others then
    begin
      -- Not everybody may write to the schema that is first in the path; this one is ours.
      create extension if not exists pg_trgm with schema {ns};
    exception when others then
      raise notice 'pg_trgm is not available: %', sqlerrm;
    end;
  end;
  select n.nspname into home
  from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  if home is not null then
    execute format(
      'create index users_search on {ns}.users using gin '
        '(email %1$I.gin_trgm_ops, (raw_user_meta_data ->> ''full_name'') %1$I.gin_trgm_ops)',
      home
    );
  end if;
exception when others then
  raise notice 'users are searched without an index: %', sqlerrm;
end
$$;
