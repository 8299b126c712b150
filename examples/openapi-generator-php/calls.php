<?php

use GuzzleHttp\Client;

require "GuzzleHttp/autoload.php";
// In place of Composer: the namespace of a client is the name of its folder.
spl_autoload_register(function (string $class) {
    [$package, $path] = explode("\\", $class, 2) + [1 => ""];
    $file = __DIR__ . "/$package/lib/" . str_replace("\\", "/", $path) . ".php";
    if (is_file($file)) {
        require $file;
    }
});

// By default an instant is sent without its fraction.
ledger\ObjectSerializer::setDateTimeFormat("Y-m-d\TH:i:s.vP");
features\ObjectSerializer::setDateTimeFormat("Y-m-d\TH:i:s.vP");

/** Prints what a step got. */
function show(string $step, mixed $value): void
{
    echo "$step ", json_encode($value, JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR), "\n";
}

function callLedger(string $url): void
{
    $configuration = (new ledger\Configuration())->setHost($url);
    $transactions = new ledger\Api\TransactionsApi(new Client(), $configuration);
    $events = new ledger\Api\EventsApi(new Client(), $configuration);
    try {
        $events->getEvent(9007199254740991);
    } catch (ledger\ApiException $error) {
        show("missing", $error->getResponseObject());
    }
    $found = $transactions->searchTransactions(
        account_id: ["demo", "plain"],
        payment_states: [ledger\Model\Status::SUCCESS, ledger\Model\Status::ERROR],
        refund_states: [ledger\Model\Status::SUCCESS, ledger\Model\Status::SUBMITTED],
        dispute_states: [ledger\Model\Status::NEEDS_RESPONSE],
        from_date: "2024-03-01T00:00:00Z",
        limit_total: true,
    );
    show("found", $found);
    $reports = new ledger\Api\ReportsApi(new Client(), $configuration);
    show("accounts", $reports->listGatewayPerformance("2024-03-01", "2024-03-31"));
    $agreements = new ledger\Api\AgreementsApi(new Client(), $configuration);
    show("agreement", $agreements->getAgreement("demo-agreement", account_id: "demo", x_consistent: true));
    show("agreements", $agreements->searchAgreements(account_id: ["demo", "plain"]));

    $id = bin2hex(random_bytes(16));
    $message = new ledger\Model\EventMessage([
        "event_type" => "PAYMENT_CREATED",
        "resource_type" => ledger\Model\ResourceType::PAYMENT_RESOURCE,
        "resource_external_id" => $id,
        "timestamp" => new DateTime("2024-03-05T09:14:22Z"),
        "event_details" => new ledger\Model\EventDetails(["gateway_account_id" => "added", "amount" => 4250]),
    ]);
    [$added, $status] = $events->addEventsWithHttpInfo($message);
    show("added", [$status, $added]);
    show("stored", $transactions->getTransaction($id, account_id: "added"));
    show("again", $events->addEvents([$message]));
}

function callFeatures(string $url): void
{
    $configuration = (new features\Configuration())->setHost($url);
    $storage = new features\Api\FeaturesApi(new Client(), $configuration);
    $bulk = new features\Api\ChangesApi(new Client(), $configuration);
    $customer = bin2hex(random_bytes(16));
    $expiry = "2037-03-05T09:14:22.018Z";
    [$added, $status] = $storage->addFeatureWithHttpInfo("customer", $customer, "zebra ü", $expiry);
    show("feature", [$status, $added]);
    try {
        $storage->addFeature("customer", $customer, "late", "2001-01-01T00:00:00Z");
    } catch (features\ApiException $error) {
        show("late", [$error->getCode(), $error->getResponseBody()]);
    }

    $changes = array_map(fn (string $name) => new features\Model\FeatureChange([
        "type" => features\Model\FeatureChange::TYPE_ADD,
        "resource" => "customer",
        "id" => $customer,
        "feature" => $name,
    ]), ["mango", "apple", "apple"]);
    show("changed", $bulk->changeFeatures(new features\Model\FeatureChanges(["changes" => $changes])));
    [$listed, , $headers] = $storage->listFeaturesWithHttpInfo("customer", $customer);
    show("listed", $listed);
    $names = ["yak", "mango", "bee"];
    show("replaced", $storage->replaceFeatures("customer", $customer, $headers["etag"][0], $names));
    $context = new features\Model\EvaluationContext(["targeting_key" => "customer/$customer"]);
    $request = new features\Model\EvaluationRequest(["context" => $context]);
    show("flag", (new features\Api\FlagsApi(new Client(), $configuration))->evaluateFlag("bee", $request));
    show("removed", $storage->removeFeatureWithHttpInfo("customer", $customer, "bee")[1]);
    $feed = $bulk->listChanges(limit: 1000)->getChanges();
    $records = array_values(array_filter($feed, fn ($record) => $record->getId() === $customer));
    show("records", [$records[0], end($records)]);
}

callLedger($argv[1]);
callFeatures($argv[2]);
