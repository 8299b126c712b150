use chrono::{DateTime, FixedOffset, NaiveDate};
use features::apis::{changes_api, features_api, flags_api};
use ledger::apis::{agreements_api, events_api, reports_api, transactions_api};
use serde::Serialize;
use std::error::Error;
use uuid::Uuid;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let urls: Vec<String> = std::env::args().skip(1).collect();
    call_ledger(&urls[0]).await?;
    call_features(&urls[1]).await
}

/// Prints what a step got.
fn show(step: &str, value: impl Serialize) {
    println!("{step} {}", serde_json::to_string(&value).unwrap());
}

fn instant(text: &str) -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339(text).unwrap()
}

async fn call_ledger(url: &str) -> Result<(), Box<dyn Error>> {
    use ledger::apis::{configuration::Configuration, Error::ResponseError};
    use ledger::models::{
        EventDetails, EventMessages, LenientIdentifier, LenientPence, Problem, ResourceType, Status, TransactionView,
    };
    let configuration = Configuration { base_path: url.to_owned(), ..Configuration::default() };
    if let Err(ResponseError(response)) = events_api::get_event(&configuration, 9_007_199_254_740_991, None, None, None).await {
        show("missing", serde_json::from_str::<Problem>(&response.content)?);
    }
    let accounts = || Some(vec!["demo".to_owned(), "plain".to_owned()]);
    let found = transactions_api::search_transactions(
        &configuration,
        accounts(),
        None,
        Some(instant("2024-03-01T00:00:00Z")),
        None, None, None, None, None, None, None,
        Some(vec![Status::Success, Status::Error]),
        Some(vec![Status::Success, Status::Submitted]),
        Some(vec![Status::NeedsResponse]),
        None, None, None, None, None, None, None, None, None, None,
        Some(true),
        None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None,
    )
    .await?;
    show("found", &found);
    let kind_of = |view: &TransactionView| match view {
        TransactionView::Payment(_) => "Payment",
        TransactionView::Refund(_) => "Refund",
        TransactionView::Dispute(_) => "Dispute",
    };
    show("kinds", found.results.iter().map(kind_of).collect::<Vec<_>>());
    let day = |day| NaiveDate::from_ymd_opt(2024, 3, day).unwrap();
    show("accounts", reports_api::list_gateway_performance(&configuration, day(1), day(31), None, None, None, None).await?);
    let agreement =
        agreements_api::get_agreement(&configuration, "demo-agreement", None, Some("demo"), None, None, Some(true), None, None, None);
    show("agreement", agreement.await?);
    let agreements = agreements_api::search_agreements(
        &configuration, None, accounts(), None, None, None, None, None, None, None, None, None, None, None, None, None, None,
    );
    show("agreements", agreements.await?);

    let id = Uuid::new_v4().to_string();
    let message = EventMessages {
        event_details: Some(EventDetails {
            gateway_account_id: Some(Box::new(LenientIdentifier::String("added".to_owned()))),
            amount: Some(Box::new(LenientPence::Integer(4250))),
            ..EventDetails::default()
        }),
        ..EventMessages::new(
            "PAYMENT_CREATED".to_owned(),
            ResourceType::PAYMENT_RESOURCE,
            id.clone(),
            instant("2024-03-05T09:14:22Z"),
        )
    };
    // The status of a success is not in the result.
    show("added", ((), events_api::add_events(&configuration, message.clone(), None).await?));
    let stored =
        transactions_api::get_transaction(&configuration, &id, Some("added"), None, None, None, None, None, None, None, None, None);
    show("stored", stored.await?);
    show("again", events_api::add_events(&configuration, message, None).await?);
    Ok(())
}

async fn call_features(url: &str) -> Result<(), Box<dyn Error>> {
    use features::apis::{configuration::Configuration, Error::ResponseError};
    use features::models::{feature_change::Type, EvaluationContext, EvaluationRequest, FeatureChange, FeatureChanges};
    let configuration = Configuration { base_path: url.to_owned(), ..Configuration::default() };
    let customer = Uuid::new_v4().to_string();
    let past = Some(instant("2001-01-01T00:00:00Z"));
    let late = features_api::add_feature(&configuration, "customer", &customer, "late", past, None).await;
    if let Err(ResponseError(response)) = late {
        show("late", (response.status.as_u16(), response.content));
    }

    let addition =
        |name: &str| FeatureChange::new(Type::Add, "customer".to_owned(), customer.clone(), name.to_owned());
    // A space in a path would become a plus.
    let expires_at = Some(instant("2037-03-05T09:14:22.018Z"));
    let zebra = FeatureChange { expires_at, ..addition("zebra ü") };
    changes_api::change_features(&configuration, FeatureChanges::new(vec![zebra]), None).await?;
    let changes = FeatureChanges::new(["mango", "apple", "apple"].map(addition).to_vec());
    show("changed", changes_api::change_features(&configuration, changes, None).await?);
    show("listed", features_api::list_features(&configuration, "customer", &customer, None, None).await?);
    // Nor is the ETag, so the list is replaced whatever it is.
    let names = ["yak", "mango", "bee"].map(str::to_owned).to_vec();
    show("replaced", features_api::replace_features(&configuration, "customer", &customer, "*", names, None).await?);
    let context = EvaluationContext { targeting_key: Some(format!("customer/{customer}")) };
    let request = EvaluationRequest { context: Some(context) };
    show("flag", flags_api::evaluate_flag(&configuration, "bee", request).await?);
    features_api::remove_feature(&configuration, "customer", &customer, "bee", None).await?;
    let feed = changes_api::list_changes(&configuration, None, Some(1000), None, None).await?.changes;
    let records: Vec<_> = feed.iter().filter(|record| record.id == customer).collect();
    show("records", (records.first(), records.last()));
    Ok(())
}
