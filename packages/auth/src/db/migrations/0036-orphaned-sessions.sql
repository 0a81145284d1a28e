-- Sessions that ended may still name a factor that was removed since.
update {ns}.sessions s set factor_id = null
where s.factor_id is not null and not exists (select from {ns}.mfa_factors f where f.id = s.factor_id);
